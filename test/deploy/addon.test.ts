/**
 * The templates for the addon manager: the kustomize bases with placeholders. Filled in, they are the same as the output of
 * `portolan manifests`.
 *
 * `npx vitest run test/deploy/addon.test.ts -u` regenerates them after a change of the bases.
 */
import { execFileSync } from 'node:child_process';
import { fillIn } from '@portolan/ops/manifests/fill-in.ts';
import { readKustomization, readManifest } from '@portolan/ops/manifests/layout-files.ts';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { itWithTool } from '../support/tools.ts';
import { FOLDERS, IMAGE } from './manifests.ts';

const TEMPLATES = {
  one: 'portolan.yaml.base',
  three: 'kube-dns.yaml.base',
  coredns: 'coredns.yaml.base',
} as const;
type Layout = keyof typeof TEMPLATES;
const HEADING = [
  '__MACHINE_GENERATED_WARNING__',
  '',
  'For a cluster whose services have addresses in __PILLAR__CLUSTER_CIDR__.',
];

/** A template as the base makes it: the ConfigMap besides, which the addon manager makes only where there is none. */
function makeTemplate(layout: Layout): string {
  const [account, ...rest] = readKustomization(FOLDERS[layout]);
  if (account === undefined) throw new Error(`nothing in ${FOLDERS[layout]}`);
  // That of CoreDNS has its Corefile.
  const configMap = layout === 'coredns' ? [] : [readManifest('deploy/addon/config-map.yaml')];
  const files = [account, ...configMap, ...rest];
  const marks = { dnsServer: '__PILLAR__DNS__SERVER__', domain: '__PILLAR__DNS__DOMAIN__', image: IMAGE };
  return fillIn(files, marks, HEADING);
}

/** As the Makefile of the addons in Kubernetes does, and then the shell of the node. */
function fillTemplate(template: string): string {
  const script = `sed -f transforms2sed.sed ${template} | sed s/__SOURCE_FILENAME__/${template}/g |
    sed -e "s|\\$DNS_SERVER_IP|$DNS_SERVER_IP|g; s|\\$DNS_DOMAIN|$DNS_DOMAIN|g" \
      -e "s|\\$SERVICE_CLUSTER_IP_RANGE|$SERVICE_CLUSTER_IP_RANGE|g"`;
  const env = {
    DNS_SERVER_IP: '10.0.0.10',
    DNS_DOMAIN: 'k8s.example',
    SERVICE_CLUSTER_IP_RANGE: '10.0.0.0/16',
  };
  const { PATH = '' } = process.env;
  return execFileSync('sh', ['-c', script], { cwd: 'deploy/addon', encoding: 'utf8', env: { PATH, ...env } });
}

describe.each(['one', 'three', 'coredns'] as const)('the template of the layout of %s', (layout) => {
  const template = TEMPLATES[layout];

  it('is its kustomize base with marks', async () => {
    await expect(makeTemplate(layout)).toMatchFileSnapshot(`../../deploy/addon/${template}`);
  });

  it('has every mark', () => {
    const { text } = readManifest(`deploy/addon/${template}`);
    const marks = [...new Set(text.match(/__[A-Z_]+__/g))].sort();
    expect(marks).toEqual([
      '__MACHINE_GENERATED_WARNING__',
      '__PILLAR__CLUSTER_CIDR__',
      '__PILLAR__DNS__DOMAIN__',
      '__PILLAR__DNS__SERVER__',
    ]);
  });

  itWithTool('sed', 'is what portolan manifests prints, once sed has filled it in', () => {
    const filled = fillTemplate(template);
    expect(filled).toMatch(`file generated from the base underscore template file: ${template}\n`);
    expect(filled).toContain('addresses in 10.0.0.0/16.');
    expect(filled).not.toMatch(/__[A-Z]|\$/);
    const objects = parseAllDocuments(filled)
      .map((document): unknown => document.toJS())
      .filter((object) => layout === 'coredns' || (object as { kind: string } | null)?.kind !== 'ConfigMap');
    const choices = { dnsServer: '10.0.0.10', domain: 'k8s.example', image: IMAGE };
    const printed = parseAllDocuments(fillIn(readKustomization(FOLDERS[layout]), choices, []));
    expect(objects.filter((object) => object !== null)).toEqual(
      printed.map((document): unknown => document.toJS()).filter((object) => object !== null),
    );
  });
});
