/**
 * Shipped manifests, filled in for one cluster: the address of the Service, the domain in arguments, the image, and the Deployment
 * that an autoscaler scales.
 *
 * They are edited as YAML documents, so that comments and layout stay.
 */
import { type Document, isMap, isScalar, isSeq, parseAllDocuments } from 'yaml';
import { type ManifestFile, ManifestFileError } from './layout-files.ts';
import { imageOfPart } from './part-image.ts';
import { DEFAULT_DNS_SERVER, DEFAULT_DOMAIN } from './settings/manifests-flags.ts';

/** Each is inserted as it is: the templates of the addon manager have placeholders here. */
export interface Choices {
  readonly dnsServer: string;
  readonly domain: string;
  readonly image: string;
  /** The Deployment that the autoscaler scales. Default: the one of the shipped manifests. */
  readonly scaled?: string;
  /** Pods of a Deployment. Default: the manifest leaves it out. */
  readonly replicas?: number | undefined;
}

/** The target of the shipped autoscaler. */
const DEFAULT_SCALED = 'kube-dns';

/**
 * @param heading lines of the comment at the top
 * @returns one stream of YAML, the same for the same choices
 * @throws ManifestFileError for a file that is not YAML
 */
export function fillIn(files: readonly ManifestFile[], choices: Choices, heading: readonly string[]): string {
  const documents = files.flatMap((file) =>
    parse(file).map((document) => {
      adapt(document, choices);
      // We write the separators between documents ourselves.
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
  if (kind === 'Deployment' && choices.replicas !== undefined)
    document.setIn(['spec', 'replicas'], choices.replicas);
  const path = ['spec', 'template', 'spec', 'containers'];
  const containers = document.getIn(path);
  if (!isSeq(containers)) return;
  for (const at of containers.items.keys()) {
    const image = document.getIn([...path, at, 'image']);
    document.setIn([...path, at, 'image'], chooseImage(String(image), choices.image));
    replaceInValues(document.getIn([...path, at, 'args']), choices);
  }
}

/** `clusterIP` of a headless Service. */
const HEADLESS = 'None';

/** Permits changing the scale of only the chosen Deployment. */
function nameScaled(document: Document, { scaled = DEFAULT_SCALED }: Choices): void {
  const rules = document.get('rules');
  if (!isSeq(rules)) return;
  for (const at of rules.items.keys())
    if (document.getIn(['rules', at, 'resources', 0]) === 'deployments/scale')
      document.setIn(['rules', at, 'resourceNames', 0], scaled);
}

/** Replaces our image, or that of a separately built part. Images of others stay as they are. */
function chooseImage(shipped: string, chosen: string): string {
  const part = /^portolan(-[a-z0-9-]+)?:/.exec(shipped);
  if (part === null) return shipped;
  const [, name = ''] = part;
  return imageOfPart(chosen, name) ?? shipped;
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
