/**
 * The double as benchmarks and long tests use it: bundled, run by plain Node.js, controlled over HTTP.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';

async function startProcess(
  ...flags: string[]
): Promise<{ url: string; control: string; stop: () => Promise<unknown> }> {
  const folder = await makeTemporaryFolder();
  const outfile = `${folder.path}/double.mjs`;
  // yaml is CommonJS inside, which asks for require.
  const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire('/');" };
  await build({
    entryPoints: ['test/api-server/main.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    banner,
    logLevel: 'silent',
  });
  const child = spawn(process.execPath, [outfile, ...flags], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(createInterface(child.stdout), 'line');
  const exit = once(child, 'exit');
  const stop = () => {
    child.stdin.end();
    return exit;
  };
  return { ...JSON.parse(line), stop };
}

test('runs by itself, holds a large cluster, changes a thousand times a second, and ends with its input', async () => {
  const { url, control, stop } = await startProcess('--services', '2000', '--endpoints', '2');
  const order = async (path: string, body?: unknown, method = 'POST') => {
    const answer = await fetch(control + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(answer.status, path).toBe(200);
    return answer.json();
  };
  const state = (await (await fetch(`${control}/state`)).json()) as { version: number; objects: unknown };
  expect(state.objects).toMatchObject({ services: 2000, endpointslices: 2000, namespaces: 10 });

  const path = '/apis/discovery.k8s.io/v1/endpointslices?watch=1&resourceVersion=';
  const watch = await fetch(url + path + state.version);
  const churn = order('/churn', { perSecond: 1000, seconds: 1, services: 2000 });
  let lines = 0;
  for await (const chunk of watch.body ?? []) {
    lines += Buffer.from(chunk).toString().split('\n').length - 1;
    if (lines >= 1000) break;
  }
  expect(await churn).toEqual({ sent: 1000 });
  expect(lines).toBe(1000);

  await order('/objects', { kind: 'Service', metadata: { name: 'one', namespace: 'a' }, spec: {} });
  expect((await fetch(`${url}/api/v1/namespaces/a/services/one`)).status).toBe(200);
  expect(await order('/objects/Service/a/one', undefined, 'DELETE')).toBe(true);
  expect((await fetch(`${url}/api/v1/namespaces/a/services/one`)).status).toBe(404);
  await order('/faults', { fault: { kind: 'status', status: 503 } });
  expect((await fetch(`${url}/api/v1/services`)).status).toBe(503);
  expect((await fetch(`${control}/nothing`)).status).toBe(400);
  expect(await stop()).toEqual([0, null]);
});
