/**
 * `portolan autoscaler` as a program: its command line, its health, its exit codes.
 */

import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { readReplicas } from '../api-server/scale.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { configMap, FLAGS, NAMESPACE, nodes, scalable } from './world.ts';

afterEach(endAllPrograms);

async function startDouble(objects = [...nodes(5), scalable('coredns', 1)]): Promise<ApiServerDouble> {
  const double = await ApiServerDouble.start({ objects, watchList: true });
  onTestFinished(() => double.stop());
  return double;
}

async function get(program: Program, path: string) {
  const { port } = await program.heard('started');
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: response.status, body: await response.text() };
}

const run = (...words: readonly string[]) =>
  runPortolan(['autoscaler', '--healthz-port=0', '--logtostderr=true', '--v=2', ...words]);

describe('a running autoscaler', () => {
  it('scales, says how it is, and ends by SIGTERM', async () => {
    const double = await startDouble();
    const program = run(...FLAGS, `--kube-master-url=${double.url}`, '--poll-period-seconds=1');
    const replicas = () => {
      const stored = double.store.get('deployments', `${NAMESPACE}/coredns`);
      return stored && readReplicas(stored.object);
    };
    await waitUntil('the replicas', () => replicas() === 3);
    await program.heard('scaled');
    expect(await get(program, '/healthz')).toEqual({ status: 200, body: '' });
    expect(await get(program, '/last-poll')).toEqual({ status: 200, body: '' });
    expect((await get(program, '/')).status).toBe(404);
    const metrics = (await get(program, '/metrics')).body;
    expect(metrics).toContain('portolan_autoscaler_schedulable_nodes 5\n');
    expect(metrics).toContain('process_resident_memory_bytes ');
    double.put(configMap({ linear: '{"nodesPerReplica":' }));
    await program.heard('poll failed');
    await expect
      .poll(() => get(program, '/last-poll'))
      .toEqual({
        status: 500,
        body: 'Encountered error at last poll cycle: Error syncing configMap with controller: error parsing linear params: could not parse parameters (not JSON: Unexpected end of JSON input)',
      });
    expect((await get(program, '/healthz')).status).toBe(200);
    program.signal('SIGTERM');
    expect(await program.exit).toEqual({ code: 0, signal: null });
  });

  it('answers health while no API server does, and ends after as many failures as it is told', async () => {
    const double = await startDouble();
    await double.stop();
    const url = `--kube-master-url=${double.url}`;
    const program = run(...FLAGS, url, '--poll-period-seconds=1', '--max-sync-failures=4');
    expect((await get(program, '/healthz')).status).toBe(200);
    expect(await program.exit).toEqual({ code: 1, signal: null });
    expect(program.log.find(({ message }) => message === 'cannot go on')?.['reason']).toMatch(
      /^4 polls in a row failed, as many as --max-sync-failures allows: .*ECONNREFUSED/,
    );
  });
});

describe('the command line', () => {
  it('says all that is missing', async () => {
    const program = run();
    expect(await program.exit).toEqual({ code: 1, signal: null });
    expect(program.errors).toBe(
      'portolan autoscaler: --configmap: not given. Name one, as in dns-autoscaler.\n' +
        'portolan autoscaler: --target: not given. Name one, as in deployment/coredns.\n' +
        'portolan autoscaler: --namespace: not given. Name one, or set MY_POD_NAMESPACE.\n',
    );
  });

  it('says where it looked for a cluster', async () => {
    const program = run(...FLAGS);
    expect((await program.exit).code).toBe(1);
    expect(program.errors).toContain(
      'in-cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set',
    );
  });

  it('names every flag of the original in its help', async () => {
    const program = runPortolan(['autoscaler', '--help']);
    expect((await program.exit).code).toBe(0);
    for (const flag of ['target', 'configmap', 'namespace', 'default-params', 'poll-period-seconds'])
      expect(program.output).toContain(`  --${flag} `);
    for (const flag of ['nodelabels', 'max-sync-failures', 'version', 'v'])
      expect(program.output).toContain(`  --${flag} `);
  });

  it('says its version, and whom it stands for', async () => {
    const program = runPortolan(['autoscaler', '--version']);
    expect((await program.exit).code).toBe(0);
    expect(program.output).toMatch(
      /^Portolan version \S+, in place of cluster-proportional-autoscaler 1\.10\n$/,
    );
  });
});

describe('decide', () => {
  const decide = (...words: readonly string[]) => runPortolan(['autoscaler', 'decide', ...words]);

  it.each([
    ['parameters.json', '{"linear":{"coresPerReplica":256,"nodesPerReplica":16}}'],
    ['config-map.yaml', `kind: ConfigMap\ndata:\n  linear: '{"coresPerReplica":256,"nodesPerReplica":16}'\n`],
  ])('reads %s', async (name, text) => {
    const path = await (await makeTemporaryFolder()).write(name, text);
    const program = decide('--params', path, '--nodes', '100', '--cores=400');
    expect((await program.exit).code).toBe(0);
    expect(program.output).toBe(
      'replicas: 7\nmode: linear\nby nodes: 7 (100 nodes)\nby cores: 2 (400 cores)\n',
    );
  });

  it('counts only what takes pods, unless the parameters say otherwise', async () => {
    const folder = await makeTemporaryFolder();
    const ladder = '[[1,1],[5,2],[9,3]]';
    const path = await folder.write('a', `{"ladder":{"nodesToReplicas":${ladder}}}`);
    const all = await folder.write(
      'b',
      `{"ladder":{"nodesToReplicas":${ladder},"includeUnschedulableNodes":true}}`,
    );
    const words = ['--nodes=9', '--cores=9', '--schedulable-nodes=5'];
    const programs = [path, all].map((file) => decide(`--params=${file}`, ...words));
    for (const program of programs) expect((await program.exit).code).toBe(0);
    expect(programs.map(({ output }) => output.split('\n')[0])).toEqual(['replicas: 2', 'replicas: 3']);
  });

  it('says what is wrong', async () => {
    const path = await (await makeTemporaryFolder()).write('a', '{"ladder":{}}');
    const bad = decide(`--params=${path}`, '--nodes=9', '--cores=9');
    expect((await bad.exit).code).toBe(1);
    expect(bad.errors).toContain('should provide coresToReplicas or nodesToReplicas');
    const missing = decide('--nodes=9', '--cores=x', '--what');
    expect((await missing.exit).code).toBe(2);
    expect(missing.errors.split('\n')).toHaveLength(4);
    const absent = decide('--params=/nonexistent', '--nodes=9', '--cores=9');
    expect((await absent.exit).code).toBe(1);
    expect(absent.errors).toContain('/nonexistent');
  });
});
