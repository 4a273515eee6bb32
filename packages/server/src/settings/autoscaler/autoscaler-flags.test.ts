import { expect, test } from 'vitest';
import { readAutoscalerFlags } from './autoscaler-flags.ts';

const NEEDED = ['--target=deployment/coredns', '--configmap=dns-autoscaler', '--namespace=kube-system'];

test('the least that must be given', () => {
  expect(readAutoscalerFlags(NEEDED, {})).toEqual({
    kind: 'good',
    settings: {
      plan: {
        targets: [
          {
            shown: 'deployment/coredns',
            name: 'coredns',
            resource: {
              kind: 'known',
              root: '/apis/apps/v1',
              plural: 'deployments',
              objectKind: 'Deployment',
            },
          },
        ],
        namespace: 'kube-system',
        configMap: 'dns-autoscaler',
        defaultParameters: undefined,
        pollPeriod: 10_000,
        nodeLabels: '',
        maxSyncFailures: 0,
        isDryRun: false,
        scaleDown: { delay: 0, maxReplicas: 0 },
        election: undefined,
      },
      cluster: { kubecfgFile: undefined, context: undefined, masterUrl: undefined },
      healthzPort: 8080,
      logLevel: 'info',
    },
  });
});

test('all that may be given', () => {
  const reading = readAutoscalerFlags(
    [
      '--target=Deployment/A, rollouts.argoproj.io/b',
      '--configmap',
      'c',
      '--poll_period_seconds=3',
      '--default-params={"linear":{"min":2,"nodesPerReplica":1.0}}',
      '--nodelabels=a in (b)',
      '--dry-run',
      '--max-sync-failures=4',
      '--scale-down-delay=5m',
      '--max-scale-down=2',
      '--leader-elect',
      '--leader-elect-resource-name=lease',
      '--leader-elect-lease-duration=30s',
      '--healthz-port=0',
      '--logtostderr=true',
      '--v=4',
      '--log-link=x',
      '--vmodule=a=1',
      '--kube-master-url=http://x',
    ],
    { MY_POD_NAMESPACE: 'dns' },
  );
  expect(reading).toMatchObject({
    kind: 'good',
    settings: {
      plan: {
        targets: [
          { shown: 'deployment/a' },
          { shown: 'rollouts.argoproj.io/b', resource: { word: 'rollouts', group: 'argoproj.io' } },
        ],
        namespace: 'dns',
        defaultParameters: new Map([['linear', '{"min":2,"nodesPerReplica":1}']]),
        pollPeriod: 3_000,
        nodeLabels: 'a in (b)',
        maxSyncFailures: 4,
        isDryRun: true,
        scaleDown: { delay: 300_000, maxReplicas: 2 },
        election: { lease: 'lease', duration: 30_000 },
      },
      cluster: { masterUrl: 'http://x' },
      healthzPort: 0,
      logLevel: 'debug',
    },
  });
});

test.each([
  [['--target=deployment/a/b']],
  [['--target=deployment/../x']],
  [['--target=daemonset/x']],
  [['--target=constructor/x']],
  [['--target=']],
  [['--configmap=a/b']],
  [['--namespace=a/b']],
  [['--leader-elect', '--leader-elect-lease-duration=2s']],
  [['--leader-elect', '--leader-elect-resource-name=a/b']],
])('%j is refused with 1', (words) => {
  expect(readAutoscalerFlags([...NEEDED, ...words], {})).toMatchObject({ kind: 'bad', exitCode: 1 });
});
