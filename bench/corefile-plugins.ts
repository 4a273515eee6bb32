/**
 * The cost of a query that one plugin of a Corefile decides: a zone file, a view, dns64, a search list. Ours against CoreDNS, taking turns.
 */
import { ApiServer } from './api-server.ts';
import { type Cluster, describeCluster, isHeadless, toServiceName, ZONE } from './cluster.ts';
import { type CorefileCase, GOAL, measureCorefiles } from './coredns.ts';
import { DOMAIN, KNOWN, listKnownNames, saveLines } from './outside.ts';
import type { Report } from './report.ts';
import type { WriteCorefile } from './servers/corefile-servers.ts';
import { startUpstream } from './servers/upstream.ts';
import type { Workplace } from './workplace.ts';
import { writeZoneFile } from './zone-file.ts';

/** The client is a pod. */
const SHAPE = { services: 2_000, endpoints: 4_000, pods: ['127.0.0.1'] };
const NAMES = 2_000;
/** How many times the cost of CoreDNS ours may be at most where pods search. */
const GOAL_OF_AUTOPATH = 0.1;
/** The first domain of the search list. */
const FIRST = `team-0.svc.${ZONE}`;
/** A cost that is only compared with that of plain hits in this table. */
const PLAIN = 'hits of cache';

export async function measureCorefilePlugins(workplace: Workplace): Promise<Report> {
  const cluster = describeCluster(SHAPE);
  const zone = await saveLines(workplace, 'zone', [writeZoneFile(cluster)]);
  const resolvConf = await saveLines(workplace, 'search', [`search ${FIRST} svc.${ZONE} ${ZONE}`]);
  const apiServer = await ApiServer.start(workplace, SHAPE);
  const upstream = await startUpstream(workplace);
  try {
    const forward = `forward . 127.0.0.1:${upstream.port}`;
    const places = { zone, resolvConf, forward, kubeconfig: apiServer.kubeconfig };
    return await measureCorefiles(workplace, 'corefile-plugins', listCases(cluster, places));
  } finally {
    await Promise.all([apiServer.stop(), upstream.process.stop()]);
  }
}

interface Places {
  readonly zone: string;
  readonly resolvConf: string;
  readonly forward: string;
  readonly kubeconfig: string;
}

function listCases(
  cluster: Cluster,
  { zone, resolvConf, forward, kubeconfig }: Places,
): readonly CorefileCase[] {
  const services = cluster.services.filter((service) => !isHeadless(service));
  const ofZone = services[0] === undefined ? KNOWN : toServiceName(services[0]);
  const known = listKnownNames(NAMES).filter((line) => line.endsWith(' A'));
  const block =
    (...lines: readonly string[]): WriteCorefile =>
    (port, metricsPort) =>
      [`.:${port} {`, '  bind 127.0.0.1', `  prometheus 127.0.0.1:${metricsPort}`, ...lines, '}', ''].join(
        '\n',
      );
  const inside = "expr incidr(client_ip(), '127.0.0.0/8')";
  const view: WriteCorefile = (port, metricsPort) =>
    block(`view inside {\n ${inside}\n }`, 'cache 30', forward)(port, metricsPort) +
    block('template ANY ANY . {\n rcode REFUSED\n }')(port, metricsPort);
  const ofPods = block(
    'autopath @kubernetes',
    `kubernetes ${ZONE} {\n kubeconfig ${kubeconfig}\n pods verified\n }`,
    'cache 30',
    forward,
  );
  const missing = `template ANY ANY ${ZONE} {\n rcode NXDOMAIN\n }`;
  const hits = { goal: GOAL, questions: known, probe: KNOWN };
  return [
    { ...hits, name: PLAIN, corefile: block('cache 30', forward) },
    { ...hits, name: 'view', corefile: view },
    {
      name: 'file',
      goal: GOAL,
      probe: ofZone,
      corefile: block(`file ${zone} ${ZONE}`),
      questions: services.map((service) => `${toServiceName(service)} A`),
    },
    {
      ...hits,
      name: 'dns64',
      corefile: block('dns64 {\n translate_all\n allow_ipv4\n }', 'cache 30', forward),
      questions: listKnownNames(NAMES).filter((line) => line.endsWith(' AAAA')),
    },
    {
      ...hits,
      name: 'autopath @kubernetes, names outside',
      goal: GOAL_OF_AUTOPATH,
      corefile: ofPods,
      questions: Array.from({ length: NAMES }, (_, index) => `host-${index}.there.${DOMAIN}.${FIRST} A`),
    },
    {
      name: 'autopath @kubernetes, services',
      goal: GOAL_OF_AUTOPATH,
      probe: ofZone,
      corefile: ofPods,
      questions: services.map(({ name, namespace }) => `${name}.${namespace}.${FIRST} A`),
    },
    {
      ...hits,
      name: 'autopath by a file, beside a zone file',
      corefile: block(`autopath ${resolvConf}`, 'cache 30', `file ${zone} ${ZONE}`, forward),
      questions: Array.from({ length: NAMES }, (_, index) => `host-${index}.there.${DOMAIN}.${FIRST} A`),
    },
    {
      ...hits,
      name: 'autopath by a file, denials that no cache keeps',
      corefile: block(`autopath ${resolvConf}`, 'cache 30', missing, forward),
      questions: Array.from({ length: NAMES }, (_, index) => `host-${index}.there.${DOMAIN}.${FIRST} A`),
    },
  ];
}
