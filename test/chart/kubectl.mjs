// The few commands of kubectl that the pages of the chart show, against the API server double: KUBE_URL=… node kubectl.mjs WORDS
const PLURALS = { service: 'services', configmap: 'configmaps', deployment: 'deployments' };
const words = process.argv.slice(2).filter((word) => !word.startsWith('-') && word !== 'kube-system');
const flags = process.argv.slice(2).filter((word) => word.startsWith('--'));
const [verb, ...rest] = words;

function locate(kind, name) {
  const group = kind === 'deployment' ? '/apis/apps/v1' : '/api/v1';
  return `${process.env.KUBE_URL}${group}/namespaces/kube-system/${PLURALS[kind]}/${name}`;
}

async function send(url, method, body) {
  const headers = { 'content-type': 'application/merge-patch+json' };
  const answer = await fetch(url, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(JSON.parse(text).message);
  return JSON.parse(text);
}

/** `label service kube-dns a=b c-` */
async function setMetadata(field, [kind, name, ...pairs]) {
  const values = pairs.map((pair) => (pair.endsWith('-') ? [pair.slice(0, -1), null] : pair.split('=')));
  await send(locate(kind, name), 'PATCH', { metadata: { [field]: Object.fromEntries(values) } });
}

async function waitForRollout(target) {
  for (let tries = 0; tries < 60; tries++) {
    const { spec, status } = await send(locate(...target.split('/')), 'GET');
    const isCurrent = status?.revision === JSON.stringify(spec.template);
    if (
      isCurrent &&
      status.updatedReplicas === (spec.replicas ?? 1) &&
      status.readyReplicas >= status.updatedReplicas
    )
      return;
    // The double makes pods within a turn of its loop; a pod without an image is never ready.
    await new Promise((done) => setTimeout(done, 10));
  }
  throw new Error('timed out waiting for the condition');
}

/** `scale deployment/coredns --replicas=0` */
async function scale([target]) {
  const replicas = Number(flags.find((flag) => flag.startsWith('--replicas='))?.split('=')[1]);
  await send(locate(...target.split('/')), 'PATCH', { spec: { replicas } });
}

async function printField([kind, name, path]) {
  const object = await send(locate(kind, name), 'GET');
  const fields = path.slice('jsonpath={.'.length, -1).split('.');
  process.stdout.write(fields.reduce((value, field) => value[field], object));
}

const COMMANDS = {
  label: () => setMetadata('labels', rest),
  annotate: () => setMetadata('annotations', rest),
  get: () => printField(rest),
  scale: () => scale(rest),
  rollout: () => waitForRollout(rest[1]),
};

try {
  await COMMANDS[verb]();
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exitCode = 1;
}
