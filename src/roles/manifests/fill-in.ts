/**
 * Shipped manifests, filled in for one cluster: the address of the Service, the domain in arguments, the image, and the Deployment
 * that an autoscaler scales.
 *
 * They are changed as documents, so that comments stay and nothing else moves.
 */
import { type Document, isMap, isScalar, isSeq, parseAllDocuments } from 'yaml';
import { DEFAULT_DNS_SERVER, DEFAULT_DOMAIN } from '../../config/manifests/manifests-flags.ts';
import { type ManifestFile, ManifestFileError } from './layout-files.ts';

/** Each is written down as it is: the templates of the addon manager have marks here. */
export interface Choices {
  readonly dnsServer: string;
  readonly domain: string;
  readonly image: string;
  /** The Deployment that the autoscaler scales. Default: that of the shipped manifests. */
  readonly scaled?: string;
}

/** As the shipped autoscaler has it. */
const DEFAULT_SCALED = 'kube-dns';

/**
 * @param heading lines of a comment that goes before all
 * @returns one stream of YAML, the same for the same choices
 * @throws ManifestFileError for a file that is no YAML
 */
export function fillIn(files: readonly ManifestFile[], choices: Choices, heading: readonly string[]): string {
  const documents = files.flatMap((file) =>
    parse(file).map((document) => {
      adapt(document, choices);
      // The lines between documents are ours.
      if (document.directives !== undefined) document.directives.docStart = null;
      return document.toString({ lineWidth: 0, flowCollectionPadding: false });
    }),
  );
  const comment = heading.map((line) => `${`# ${line}`.trimEnd()}\n`).join('');
  return [comment, ...documents].join('---\n');
}

function parse({ path, text }: ManifestFile): readonly Document[] {
  const documents = parseAllDocuments(text);
  for (const { errors } of documents)
    for (const error of errors) throw new ManifestFileError(path, error.message);
  return documents.filter((document): document is typeof document & Document => document.contents !== null);
}

function adapt(document: Document, choices: Choices): void {
  const kind = document.get('kind');
  const address = document.getIn(['spec', 'clusterIP']);
  if (kind === 'Service' && typeof address === 'string' && address !== HEADLESS)
    document.setIn(['spec', 'clusterIP'], choices.dnsServer);
  if (kind === 'Role') nameScaled(document, choices);
  if (kind === 'ConfigMap') replaceInValues(document.get('data'), choices);
  if (kind !== 'Deployment' && kind !== 'DaemonSet') return;
  const path = ['spec', 'template', 'spec', 'containers'];
  const containers = document.getIn(path);
  if (!isSeq(containers)) return;
  for (const at of containers.items.keys()) {
    const image = document.getIn([...path, at, 'image']);
    document.setIn([...path, at, 'image'], chooseImage(String(image), choices.image));
    replaceInValues(document.getIn([...path, at, 'args']), choices);
  }
}

/** The address of a Service without one. */
const HEADLESS = 'None';

/** Lets the scale of the Deployment be changed that is chosen, and of no other. */
function nameScaled(document: Document, { scaled = DEFAULT_SCALED }: Choices): void {
  const rules = document.get('rules');
  if (!isSeq(rules)) return;
  for (const at of rules.items.keys())
    if (document.getIn(['rules', at, 'resources', 0]) === 'deployments/scale')
      document.setIn(['rules', at, 'resourceNames', 0], scaled);
}

/** Ours, or the one of a part that is built beside it; what others made stays as it is. */
function chooseImage(shipped: string, chosen: string): string {
  const part = /^portolan(-[a-z0-9-]+)?:/.exec(shipped);
  if (part === null) return shipped;
  const [, name = ''] = part;
  const [repository = ''] = chosen.split(/(?::[^:/]*)?(?:@|$)/);
  if (repository.endsWith(name)) return chosen;
  // What a digest names is one image.
  if (chosen.includes('@')) return shipped;
  return chosen.replace(/(:[^:/]*)?$/, (tag) => `${name}${tag}`);
}

/** Arguments of a container, and texts of a ConfigMap. */
function replaceInValues(values: unknown, { dnsServer, domain, scaled = DEFAULT_SCALED }: Choices): void {
  const items: readonly unknown[] = isSeq(values) ? values.items : [];
  const texts = isMap(values) ? values.items.map(({ value }) => value) : items;
  for (const text of texts)
    if (isScalar(text) && typeof text.value === 'string')
      text.value = text.value
        .replaceAll(DEFAULT_DOMAIN, () => domain)
        .replaceAll(DEFAULT_DNS_SERVER, () => dnsServer)
        .replace(`--target=deployment/${DEFAULT_SCALED}`, () => `--target=deployment/${scaled}`);
}
