/**
 * The comparison with the originals, on small checkouts of which each has what our tables have, and one thing more.
 */
import { readFileSync } from 'node:fs';
import { pluginOrder } from '@portolan/frontends/coredns/settings/plugin-order.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { describe, expect, it } from 'vitest';
import { listMetrics, parseConstants, parseFlags } from './go-source.ts';
import { KNOWN_DIFFERENCES } from './known-differences.ts';
import { main } from './main.ts';

type Files = Readonly<Record<string, string>>;

const ORDER = pluginOrder('1.14').filter((name) => name !== 'portolan');
const makePluginList = (names: readonly string[]) => names.map((name) => `${name}:${name}`).join('\n');
const RUN =
  'const serverType = "dns"\nflag.StringVar(&conf, "conf", "", "x")\nflag.StringVar(&p, serverType+".port", "53", "x")\n';
const SETUP = 'func parse(c *caddy.Controller) {\n\tswitch c.Val() {\n\tcase "lameduck":\n\t}\n}\n';
const COREDNS: Files = {
  'plugin.cfg': `# a comment: not a plugin\n${makePluginList(ORDER)}\n`,
  'coremain/run.go': RUN,
  'plugin/health/setup.go': SETUP,
  'plugin/health/setup_test.go': SETUP.replace('lameduck', 'only_in_a_test'),
};
const NODE_CACHE: Files = {
  'cmd/node-cache/main.go': 'flag.StringVar(&params.LocalIPStr, "localip", "", "x")\n',
  'cmd/node-cache/app/configmap.go': 'LocalVar = "__PILLAR__LOCAL__DNS__"\n',
  'cmd/node-cache/app/metrics.go':
    'prometheus.CounterOpts{\nNamespace: plugin.Namespace,\nSubsystem: "nodecache",\nName: "setup_errors_total",\n}',
};

/** @returns what is printed for a checkout with these files */
async function compare(flag: string, files: Files, ...words: readonly string[]) {
  const folder = await makeTemporaryFolder();
  for (const [name, text] of Object.entries(files)) await folder.write(name, text);
  const lines: string[] = [];
  const code = main([`--${flag}`, folder.path, ...words], process.cwd(), (line) => void lines.push(line));
  return { code, lines };
}

describe('npm run originals', () => {
  it('finds nothing where an original is as our tables are', async () => {
    expect(await compare('coredns', COREDNS)).toEqual({ code: 0, lines: ['0 new, 1 known'] });
    expect(await compare('node-cache', NODE_CACHE)).toEqual({ code: 0, lines: ['0 new, 0 known'] });
  });

  it.each<readonly [string, Files, string]>([
    [
      'a flag',
      { 'coremain/run.go': `${RUN}flag.Bool("new-flag", false, "x")\n` },
      'flag of the original that we refuse: -new-flag',
    ],
    [
      'a plugin',
      { 'plugin.cfg': makePluginList([...ORDER, 'novel']) },
      'plugin that our order does not have: novel',
    ],
    [
      'a plugin less',
      { 'plugin.cfg': makePluginList(ORDER.slice(1)) },
      `plugin of our order that the original no longer has: ${ORDER[0]}`,
    ],
    [
      'another order',
      { 'plugin.cfg': makePluginList([...ORDER.slice(1), ORDER[0] ?? '']) },
      `order of plugins: the original has ${ORDER[1]} where we have ${ORDER[0]}`,
    ],
    [
      'a word of a directive',
      { 'plugin/health/setup.go': SETUP.replace('"lameduck"', '"lameduck", "patience"') },
      'word of the directive health that our syntax does not have: patience',
    ],
    [
      'a metric',
      {
        'plugin/health/metrics.go':
          'prometheus.GaugeOpts{ Namespace: plugin.Namespace, Subsystem: "health", Name: "novel" }',
      },
      'metric that we do not have: coredns_health_novel',
    ],
  ])('prints %s of CoreDNS that is new', async (_what, files, line) => {
    expect(await compare('coredns', { ...COREDNS, ...files })).toEqual({
      code: 1,
      lines: [`coredns: ${line}`, '1 new, 1 known'],
    });
  });

  it('prints a variable of the template that is new', async () => {
    const files = { ...NODE_CACHE, 'cmd/node-cache/app/more.go': 'More = "__PILLAR__MORE__"\n' };
    expect((await compare('node-cache', files)).lines).toEqual([
      'node-cache: variable of the template that we do not replace: __PILLAR__MORE__',
      '1 new, 0 known',
    ]);
  });

  it('prints what changes in a manifest, whatever the order of its keys', async () => {
    const text = readFileSync('test/originals/manifests/coredns-deployment.yaml', 'utf8');
    const path = 'kubernetes/coredns.yaml.sed';
    const turned = text.replace(
      '{ containerPort: 53, name: dns, protocol: UDP }',
      '{ protocol: UDP, name: dns, containerPort: 53 }',
    );
    expect(turned).not.toBe(text);
    expect((await compare('coredns-deployment', { [path]: turned })).code).toBe(0);
    const changed = text.replace('memory: 170Mi', 'memory: 200Mi');
    expect((await compare('coredns-deployment', { [path]: changed })).lines).toEqual([
      'coredns-deployment: coredns.limits is now {"memory":"200Mi"}, was {"memory":"170Mi"}',
      '1 new, 0 known',
    ]);
  });

  it('lists the known ones with --all', async () => {
    const reason = KNOWN_DIFFERENCES.get('coredns plugin portolan');
    expect((await compare('coredns', COREDNS, '--all')).lines).toEqual([
      `coredns: plugin of our order that the original no longer has: portolan (known: ${reason})`,
      '0 new, 1 known',
    ]);
  });

  it.each([
    [['--coredns', '/nonexistent'], 'no such folder: /nonexistent'],
    [[], 'no checkout is named'],
    [['--corends', '.'], "Unknown option '--corends'"],
    [['--coredns', 'docs'], 'no file plugin.cfg in docs'],
  ])('refuses %j', (words, reason) => {
    const lines: string[] = [];
    expect(main(words, process.cwd(), (line) => void lines.push(line))).toBe(2);
    expect(lines.join('\n')).toContain(reason);
    expect(lines.join('\n')).toContain('Usage: npm run originals');
  });
});

describe('sources in Go', () => {
  it('have flags in three forms', () => {
    const text = `fs.Var(someVar{&s.X}, "first",\n "x")\nfs.DurationVar(&s.Y, "second", s.Y,\n"x")\nflag.Bool("third", false, "x")`;
    expect(parseFlags(text, new Map()).toSorted()).toEqual(['first', 'second', 'third']);
  });

  it('have names that are put together; those known only at run time are left out', () => {
    const constants = parseConstants(['const subsystem = "forward"']);
    const metric = (subsystem: string) =>
      `prometheus.CounterOpts{\nNamespace: plugin.Namespace,\nSubsystem: ${subsystem},\nName: "a_total",\n}`;
    expect(listMetrics(metric('subsystem'), constants)).toEqual(['coredns_forward_a_total']);
    expect(listMetrics(metric('given'), constants)).toEqual([]);
  });
});
