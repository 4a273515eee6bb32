/**
 * The Helm chart: its templates and its values fit together, it renders valid objects, and it says the same as the kustomize layouts.
 *
 * `.ci/helm` builds helm from its Go module. Without helm, only the first group runs: it reads the chart and does not render it.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Layout } from '@portolan/ops/manifests/settings/manifests-flags.ts';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CHART_VALUES } from '../../scripts/generate/chart/values.ts';
import { type Manifest, parseManifests, readLayout } from '../deploy/manifests.ts';
import { KubernetesSchemas, RELEASES } from '../deploy/schema.ts';
import { describeWithTool } from '../support/tools.ts';

const CHART = 'deploy/chart';
const TEMPLATES = readdirSync(join(CHART, 'templates'), { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(yaml|tpl|txt)$/.test(path))
  .map((path) => [path, readFileSync(join(CHART, 'templates', path), 'utf8')] as const);
const KEYS = CHART_VALUES.map(({ key }) => key);
const VALUES_FOLDER = 'test/chart/values';
const VALUES_FILES = readdirSync(VALUES_FOLDER);
/** Custom resources have schemas of their own; of the others no schema is recorded. */
const WITHOUT_SCHEMA = ['monitoring.coreos.com/v1', 'autoscaling/v2', 'networking.k8s.io/v1'];
const PLACE = ['--namespace', 'kube-system', '--kube-version', '1.31.0'];

function render(...flags: readonly string[]): readonly Manifest[] {
  const words = ['template', 'portolan', CHART, ...PLACE, ...flags];
  return parseManifests(execFileSync('helm', words, { encoding: 'utf8' }));
}

describe('the chart, as text', () => {
  it.each(TEMPLATES)('%s opens and closes its blocks', (_path, text) => {
    const words = [...text.matchAll(/\{\{-?\s*(\w+)/g)].map(([, word = '']) => word);
    const count = (...names: readonly string[]) => words.filter((each) => names.includes(each)).length;
    expect(count('end')).toBe(count('if', 'range', 'with', 'define', 'block'));
    expect(text.split('{{').length).toBe(text.split('}}').length);
  });

  it.each(TEMPLATES)('%s reads only values of the table', (_path, text) => {
    const read = [...text.matchAll(/\.Values\.([a-zA-Z]\w*(?:\.[a-zA-Z]\w*)*)/g)].map(([, key = '']) => key);
    const isKnown = (key: string) =>
      KEYS.some((known) => known === key || known.startsWith(`${key}.`) || key.startsWith(`${known}.`));
    expect(read.filter((key) => !isKnown(key))).toEqual([]);
  });

  it('uses each value of the table', () => {
    const all = TEMPLATES.map(([, text]) => text).join('\n');
    const isRead = (key: string): boolean =>
      new RegExp(String.raw`[.$](?:V|v)alues\.${key.replaceAll('.', String.raw`\.`)}(?!\w)`).test(all) ||
      (key.includes('.') && isRead(key.slice(0, key.lastIndexOf('.'))));
    // The image of the autoscaler is accepted, and noted as unused.
    expect(KEYS.filter((key) => !isRead(key))).toEqual([]);
  });

  it('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'))).toMatchObject({
      version,
      appVersion: version,
    });
  });
});

/** Objects that a test looks into. */
type Fields = Readonly<Record<string, unknown>>;

function findField(object: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Fields | undefined)?.[key], object);
}

const ofKind = (objects: readonly Manifest[], kind: string): readonly Manifest[] =>
  objects.filter((object) => object.kind === kind);

/** What decides how the servers run, whatever the objects are called. */
function selectEssentials(objects: readonly Manifest[], workload: string): Fields {
  const [first] = ofKind(objects, workload);
  const pod = findField(first, 'spec', 'template', 'spec') as Fields;
  const container = findField(pod, 'containers', 0) as Fields;
  const { volumeMounts, ...rest } = container;
  const kept = [
    'dnsPolicy',
    'priorityClassName',
    'tolerations',
    'securityContext',
    'terminationGracePeriodSeconds',
    'hostNetwork',
  ];
  return {
    container: rest,
    mounts: (volumeMounts as readonly Fields[]).map(({ mountPath }) => mountPath),
    pod: Object.fromEntries(kept.filter((key) => key in pod).map((key) => [key, pod[key]])),
  };
}

/** Merged by what they are of, since one rule may name several resources. */
function listRights(objects: readonly Manifest[]): readonly string[] {
  const rules = [...ofKind(objects, 'ClusterRole'), ...ofKind(objects, 'Role')].flatMap(
    (role) =>
      findField(role, 'rules') as readonly {
        apiGroups: string[];
        resources: string[];
        verbs: string[];
        resourceNames?: string[];
      }[],
  );
  const each = rules.flatMap(({ apiGroups, resources, verbs, resourceNames = ['*'] }) =>
    resources.map((resource) => `${apiGroups} ${resource} ${resourceNames} ${[...verbs].sort()}`),
  );
  return [...new Set(each)].sort();
}

const SAME: readonly (readonly [Layout, workload: string, flags: readonly string[]])[] = [
  ['coredns', 'Deployment', ['fullnameOverride=coredns', 'service.name=kube-dns']],
  ['one', 'Deployment', ['program=serve', 'fullnameOverride=kube-dns']],
  ['node-local', 'DaemonSet', ['nodeLocal.enabled=true', 'fullnameOverride=kube-dns']],
];

describeWithTool('helm', 'the chart, rendered by helm', () => {
  it('passes helm lint --strict', () => {
    const { status, stdout } = spawnSync('helm', ['lint', '--strict', CHART], { encoding: 'utf8' });
    expect(stdout).toContain('0 chart(s) failed');
    expect(status).toBe(0);
  });

  const schemas = RELEASES.map((release) => new KubernetesSchemas(release));
  it.each(VALUES_FILES)('renders objects that all releases of Kubernetes take, with %s', (file) => {
    const objects = render('--values', join(VALUES_FOLDER, file));
    expect(objects.length).toBeGreaterThan(3);
    const known = objects.filter(({ apiVersion }) => !WITHOUT_SCHEMA.includes(apiVersion));
    for (const schema of schemas) expect(known.flatMap((object) => schema.complaints(object))).toEqual([]);
    for (const config of ofKind(objects, 'ConfigMap')) {
      const corefile = findField(config, 'data', 'Corefile');
      // The template of node-cache has variables, and zone files are not on this machine.
      if (typeof corefile !== 'string' || /PILLAR|\bfile \//.test(corefile)) continue;
      const check = spawnSync(process.execPath, ['dist/portolan.js', 'corefile', 'check', '-'], {
        input: corefile,
      });
      expect(String(check.stdout)).toMatch(/^0 problems/m);
    }
  });

  it.each(SAME)('says the same as the layout %s', (layout, workload, flags) => {
    const sets = [...flags, 'service.clusterIP=10.96.0.10'].flatMap((flag) => ['--set', flag]);
    const chart = render(...sets);
    const shipped = readLayout(layout);
    // The chart also sets what the API server would.
    expect(selectEssentials(chart, workload)).toMatchObject(selectEssentials(shipped, workload));
    const findCorefile = (objects: readonly Manifest[]) =>
      ofKind(objects, 'ConfigMap')
        .map((each) => findField(each, 'data', 'Corefile'))
        .at(-1);
    expect(findCorefile(chart)).toEqual(findCorefile(shipped));
    if (workload === 'DaemonSet') return;
    expect(listRights(chart)).toEqual(listRights(shipped));
    const service = ofKind(chart, 'Service')[0];
    const shippedService = ofKind(shipped, 'Service')[0];
    expect(findField(service, 'spec', 'clusterIP')).toBe(findField(shippedService, 'spec', 'clusterIP'));
    const ports = findField(shippedService, 'spec', 'ports') as readonly { name: string }[];
    // The chart has a Service of its own for metrics.
    expect(findField(service, 'spec', 'ports')).toEqual(ports.filter(({ name }) => name !== 'metrics'));
  });

  it.each(['coredns', 'serve'])('writes events on its Service, and may, with %s', (program) => {
    const flags = [`program=${program}`, 'service.name=cluster-dns', 'events.enabled=true'];
    const objects = render(...flags.flatMap((flag) => ['--set', flag]));
    const container = findField(
      ofKind(objects, 'Deployment')[0],
      'spec',
      'template',
      'spec',
      'containers',
      0,
    );
    expect(findField(container, 'args')).toContain('--events=kube-system/cluster-dns');
    const right = 'events.k8s.io events * create';
    expect(listRights(objects)).toContain(right);
    expect(listRights(render('--set', `program=${program}`))).not.toContain(right);
    expect(JSON.stringify(render('--set', `program=${program}`))).not.toContain('--events');
  });

  it.each(['beside.yaml', 'adopt.yaml'])(
    'lets caches on nodes ask what the live Service selects, with %s',
    (file) => {
      const objects = render('--values', join(VALUES_FOLDER, file));
      const services = ofKind(objects, 'Service');
      const upstream = services.find(({ metadata }) => metadata.name === 'portolan-upstream');
      expect(findField(upstream, 'spec', 'selector')).toEqual({ 'k8s-app': 'kube-dns' });
      const live = services.filter(({ metadata }) => metadata.name === 'kube-dns');
      const annotations = { 'helm.sh/resource-policy': 'keep', 'prometheus.io/port': '9153' };
      expect(live.map(({ metadata }) => metadata.annotations)).toEqual(
        file === 'adopt.yaml' ? [annotations] : [],
      );
    },
  );

  it('has sane defaults: two pods, a budget, a spread, and no CPU limit', () => {
    const objects = render();
    const [deployment] = ofKind(objects, 'Deployment');
    expect(findField(deployment, 'spec', 'replicas')).toBe(2);
    const pod = findField(deployment, 'spec', 'template', 'spec') as Fields;
    expect(findField(pod, 'containers', 0, 'resources', 'limits')).toEqual({ memory: '512Mi' });
    expect(findField(pod, 'topologySpreadConstraints', 0, 'whenUnsatisfiable')).toBe('ScheduleAnyway');
    expect(findField(ofKind(objects, 'PodDisruptionBudget')[0], 'spec', 'maxUnavailable')).toBe(1);
  });

  it('gives each zone of a block the port of the block, and both transports', () => {
    const objects = render('--values', join(VALUES_FOLDER, 'two-servers.yaml'));
    const corefile = String(findField(ofKind(objects, 'ConfigMap')[0], 'data', 'Corefile'));
    expect(corefile).toContain('corp.example:5353 lab.example:5353 {');
    expect(findField(ofKind(objects, 'Service')[0], 'spec', 'ports')).toEqual([
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'dns-tcp', port: 53, protocol: 'TCP' },
      { name: 'udp-5353', port: 53530, protocol: 'UDP', targetPort: 5353, nodePort: 30053 },
      { name: 'tcp-5353', port: 53530, protocol: 'TCP', targetPort: 5353, nodePort: 30053 },
    ]);
  });

  it('leaves templates of the plugin template as they are', () => {
    const objects = render('--values', join(VALUES_FOLDER, 'rewrite-template.yaml'));
    expect(findField(ofKind(objects, 'ConfigMap')[0], 'data', 'Corefile')).toContain(
      'answer "{{ .Name }} 60 IN A 192.0.2.9"',
    );
  });

  it('renders the alerts with the job of the release, without those that are disabled', () => {
    const objects = render('--values', join(VALUES_FOLDER, 'monitoring.yaml'));
    const text = JSON.stringify(ofKind(objects, 'PrometheusRule'));
    expect(text).toContain('"alert":"PortolanNotReady"');
    expect(text).not.toContain('"alert":"PortolanNxdomainStorm"');
    const other = JSON.stringify(
      ofKind(render('--values', join(VALUES_FOLDER, 'pod-monitor.yaml')), 'PrometheusRule'),
    );
    expect(other).toContain('portolan_ready{job=\\"dns\\"} == 0');
    const dashboards = ofKind(objects, 'ConfigMap').filter(
      ({ metadata }) => metadata.labels?.['grafana_dashboard'] === '1',
    );
    for (const dashboard of dashboards)
      for (const content of Object.values(findField(dashboard, 'data') as Fields))
        expect(JSON.parse(String(content))).toHaveProperty('panels');
    expect(dashboards).toHaveLength(2);
  });

  it.each([
    [['--set', 'replicas=3'], 'replicas'],
    [['--set', 'replicaCount=many'], 'replicaCount'],
    [['--set', 'autoscaler.core=3'], 'core'],
    [['--set', 'nodeLocal.enabled=true'], 'service.clusterIP'],
  ])('refuses %j', (flags, named) => {
    const { status, stderr } = spawnSync('helm', ['template', 'portolan', CHART, ...PLACE, ...flags], {
      encoding: 'utf8',
    });
    expect(status).not.toBe(0);
    expect(stderr).toContain(named);
  });
});
