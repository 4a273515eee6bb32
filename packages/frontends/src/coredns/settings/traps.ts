/**
 * Warns of valid Corefile settings whose effect may surprise their author.
 */
import type { ServerKey } from '@portolan/corefile/keys/server-key.ts';
import { isReverseZone } from '@portolan/corefile/keys/zone-name.ts';
import type { CorefileFiles } from '@portolan/corefile/syntax/corefile-files.ts';
import type { CorefileFindings } from '@portolan/corefile/syntax/findings.ts';
import { rcodeName, typeName } from '@portolan/dns/mnemonics.ts';
import { isWithin, ROOT, toParent } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { KubernetesOptions } from '@portolan/kubernetes/plugins/kubernetes/options.ts';
import type { ForwardRoute, ForwardUpstream } from '@portolan/plugins/forward/options.ts';
import type { TemplateRule } from '@portolan/plugins/template/options.ts';
import { type CorefileUse, findDefinition, findOptions } from '../../plugins/registry.ts';

interface Block {
  readonly keys: readonly ServerKey[];
  readonly plugins: readonly CorefileUse[];
}

/** Whether a plugin answers queries itself. */
const answers = ({ name }: CorefileUse): boolean => findDefinition(name)?.answers === true;

export function findTraps(blocks: readonly Block[], files: CorefileFiles, findings: CorefileFindings): void {
  for (const block of blocks) {
    findSilentBlock(block, findings);
    findPlainListeners(block, blocks, findings);
    for (const use of block.plugins) findPluginTraps(use, block, files, findings);
  }
  findUncountedBlocks(blocks, findings);
  findParentsOfZones(blocks, findings);
}

function findPluginTraps(
  use: CorefileUse,
  block: Block,
  files: CorefileFiles,
  findings: CorefileFindings,
): void {
  switch (use.name) {
    case 'autopath':
      findAutopathTraps(use, block, findings);
      break;
    case 'hosts':
      findHostsTraps(use, block, findings);
      break;
    case 'template':
      findTemplateTraps(use, block, findings);
      break;
    case 'kubernetes':
      findKubernetesTraps(use, block, findings);
      break;
    case 'forward':
      findForwardTraps(use, block, files, findings);
      break;
    case 'cache':
      findCacheTraps(use, block, findings);
      break;
    case 'prometheus':
      findMetricsTraps(use, findings);
      break;
    default:
  }
}

function findSilentBlock({ keys, plugins }: Block, findings: CorefileFindings): void {
  const [key] = keys;
  if (key !== undefined && !plugins.some(answers))
    findings.warn(key.position, 'No plugin of this server block answers questions, so all are refused.');
}

/** Keys for encryption without a certificate, and certificates without such a key. */
function findPlainListeners(block: Block, blocks: readonly Block[], findings: CorefileFindings): void {
  // Without a certificate, grpc:// is not encrypted by choice.
  const secure = block.keys.filter(({ scheme }) => scheme === 'tls' || scheme === 'https');
  const own = block.plugins.find(({ name }) => name === 'tls');
  if (own !== undefined && secure.length === 0 && !block.keys.some(({ scheme }) => scheme === 'grpc'))
    findings.warn(
      own.position,
      'tls has no effect here: no key of this server block begins with tls://, https:// or grpc://.',
    );
  if (own !== undefined) return;
  for (const { scheme, shown, port, position } of secure) {
    const sharesCertificate = blocks.some(
      ({ keys, plugins }) =>
        plugins.some(({ name }) => name === 'tls') &&
        keys.some((key) => key.scheme === scheme && key.port === port),
    );
    if (!sharesCertificate)
      findings.warn(
        position,
        `${scheme}://${shown}:${port} is served without encryption, since the server block has no tls. Write tls CERT KEY into it, unless a proxy ends TLS.`,
      );
  }
}

function findAutopathTraps(
  { options, position }: CorefileUse<'autopath'>,
  block: Block,
  findings: CorefileFindings,
): void {
  const { source } = options;
  if (source.kind !== 'plugin') return;
  const { name } = source;
  if (name === 'erratic') return;
  const clusters = findKubernetesOptions(block, name);
  if (clusters === undefined)
    findings.warn(
      position,
      `autopath has no effect: only kubernetes and kubernetai know how clients search, not ${name}.`,
    );
  else if (clusters.length === 0)
    findings.warn(position, `autopath has no effect: this server block has no ${name}.`);
  else if (clusters.some(({ pods }) => pods !== 'verified'))
    findings.warn(position, `autopath has no effect: it needs pods verified in ${name}, to know who asks.`);
}

/** Undefined: the plugin knows no cluster. */
function findKubernetesOptions({ plugins }: Block, name: string): readonly KubernetesOptions[] | undefined {
  if (name === 'kubernetes') return plugins.flatMap((use) => (use.name === 'kubernetes' ? use.options : []));
  if (name === 'kubernetai') return plugins.flatMap((use) => (use.name === 'kubernetai' ? use.options : []));
  return undefined;
}

function findHostsTraps(
  { options, position }: CorefileUse<'hosts'>,
  block: Block,
  findings: CorefileFindings,
): void {
  const place = block.plugins.findIndex(({ name }) => name === 'hosts');
  const further = block.plugins.slice(place + 1).filter(answers);
  if (options.fallthrough.length === 0 && further.length > 0)
    findings.warn(
      position,
      `Without fallthrough, every name that hosts does not have is answered SERVFAIL: ${further.map(({ name }) => name).join(', ')} are never asked. Add fallthrough.`,
    );
  if (options.path === '/etc/hosts' && options.inline.length > 0)
    findings.warn(
      position,
      'Beside its lines here, hosts always reads a file, /etc/hosts unless another is named: the names of this machine are answered, too.',
    );
}

const NOERROR = 0;
const NXDOMAIN = 3;
const ANY = 255;

function findTemplateTraps(
  { options, position }: CorefileUse<'template'>,
  block: Block,
  findings: CorefileFindings,
): void {
  for (const rule of options.templates) {
    const type = rule.type === ANY ? 'all types' : `type ${typeName(rule.type)}`;
    const isNegative = rule.rcode === NXDOMAIN || (rule.rcode === NOERROR && rule.answer.length === 0);
    const excludes = rule.patterns.length > 0 ? 'match no pattern' : 'do not meet its conditions';
    if ((rule.patterns.length > 0 || rule.conditions.length > 0) && rule.fallthrough.length === 0)
      findings.warn(
        position,
        `Without fallthrough, questions of ${type} below ${rule.zones.join(', ')} that ${excludes} are answered SERVFAIL. Add fallthrough.`,
      );
    if (isNegative && rule.authority.length === 0)
      findings.warn(
        position,
        `The ${rcodeName(rule.rcode)} of this template for ${rule.zones.join(', ')} has no SOA record, so clients do not cache it. Add one: authority "{{ .Zone }} 60 IN SOA ns.{{ .Zone }} hostmaster.{{ .Zone }} 1 60 60 60 60".`,
      );
    findSuppressedCluster(rule, block, type, findings, position);
  }
}

function findSuppressedCluster(
  rule: TemplateRule,
  block: Block,
  type: string,
  findings: CorefileFindings,
  position: CorefileUse['position'],
): void {
  const cluster = block.plugins.find((use): use is CorefileUse<'kubernetes'> => use.name === 'kubernetes');
  const zone = cluster?.options.primaryZone;
  const takesAll = rule.patterns.length === 0 && rule.conditions.length === 0;
  if (zone !== undefined && takesAll && rule.zones.some((own) => isWithin(zone, own)))
    findings.warn(
      position,
      `template stands before kubernetes, so it answers ${type} for names of ${zone}, too.`,
    );
}

function findKubernetesTraps(
  { options, position }: CorefileUse<'kubernetes'>,
  block: Block,
  findings: CorefileFindings,
): void {
  const forwards = block.plugins.some(({ name }) => name === 'forward');
  const isReverse = (zone: NameKey) => isReverseZone(`x.${zone}`);
  const lost = options.zones.filter(
    (zone) => isReverse(zone) && !options.fallthrough.some((other) => isWithin(zone, other)),
  );
  if (forwards && lost.length > 0)
    findings.warn(
      position,
      `Without fallthrough for ${lost.join(', ')}, addresses outside of the cluster are answered NXDOMAIN. Write fallthrough ${lost.map((zone) => zone.slice(0, -1)).join(' ')}.`,
    );
}

function findForwardTraps(
  { options, position }: CorefileUse<'forward'>,
  block: Block,
  files: CorefileFiles,
  findings: CorefileFindings,
): void {
  const { routes } = options;
  for (const [index, rule] of routes.entries()) {
    const upstreams = rule.sources?.upstreams ?? [];
    const before = routes.slice(0, index).find((other) => takesAll(other, rule.from));
    if (before !== undefined)
      findings.warn(
        position,
        `The forward for ${rule.from} is never asked, since that for ${before.from} takes all its questions. Put it first, or give the other one next.`,
      );
    for (const upstream of upstreams)
      if (upstream.kind === 'file') findLoopbackServers(upstream.path, position, files, findings);
    const own = upstreams.flatMap((upstream) => (isOwnAddress(upstream, block) ? upstream.address : []));
    if (own.length > 0)
      findings.warn(
        position,
        `forward to ${own.join(', ')} leads back to this server block: no query is answered. Name the servers of the network.`,
      );
  }
}

/** Whether an upstream server is a listener of the block: loopback, and a port of the block that is not bound elsewhere. */
function isOwnAddress(
  upstream: ForwardUpstream,
  { keys, plugins }: Block,
): upstream is Extract<ForwardUpstream, { kind: 'address' }> {
  if (upstream.kind !== 'address' || !/^(?:127\.|::1$|0\.0\.0\.0$|::$)/.test(upstream.address)) return false;
  if (!keys.some(({ scheme, port }) => scheme === upstream.scheme && port === upstream.port)) return false;
  const bound = findOptions({ plugins }, 'bind')?.addresses ?? [];
  return bound.length === 0 || [upstream.address, '0.0.0.0', '::'].some((address) => bound.includes(address));
}

function takesAll(rule: ForwardRoute, zone: NameKey): boolean {
  const handsOn = rule.nextRcodes.length > 0 || rule.nextOnNoData;
  return !handsOn && isWithin(zone, rule.from) && !rule.except.some((name) => isWithin(zone, name));
}

function findLoopbackServers(
  path: string,
  position: CorefileUse['position'],
  files: CorefileFiles,
  findings: CorefileFindings,
): void {
  let text = '';
  try {
    text = files.read(path);
  } catch {
    return;
  }
  const servers = [...text.matchAll(/^nameserver\s+(127\.\S+|::1)/gm)].map((match) => match[1]);
  if (servers.length > 0)
    findings.warn(
      position,
      `${path} names ${servers.join(', ')}: CoreDNS forwards to itself then, and loop ends it. Name the servers of the network, or a file that does, as /run/systemd/resolve/resolv.conf.`,
    );
}

function findCacheTraps(
  { options, position }: CorefileUse<'cache'>,
  { keys }: Block,
  findings: CorefileFindings,
): void {
  const { serveStale } = options;
  const words = options.kind === 'coredns' ? options.zones.filter((zone) => isWord(zone, keys)) : [];
  for (const zone of words)
    findings.warn(
      position,
      `${zone.slice(0, -1)} is a zone here, so only names below ${zone} are cached. Give the TTL as a number of seconds, as in cache 30.`,
    );
  if (serveStale !== undefined && !serveStale.prefersPositive)
    findings.warn(
      position,
      `serve_stale keeps negative answers too: a name that comes back may be denied for up to ${serveStale.duration / 1000} s more if there are no queries for it in between.`,
    );
}

/** Whether a zone is a single label that is not the zone of a key: a number in words, or a duration. */
function isWord(zone: NameKey, keys: readonly ServerKey[]): boolean {
  return /^[^.]+\.$/.test(zone) && !TOP_ZONES.has(zone) && !keys.some((key) => isWithin(key.zone, zone));
}

/** Single labels that people mean as zones. */
const TOP_ZONES: ReadonlySet<string> = new Set(
  ['local', 'internal', 'lan', 'home', 'corp', 'com', 'net', 'org', 'arpa', 'test', 'example'].map(
    (top) => `${top}.`,
  ),
);

function findMetricsTraps(
  { options, position }: CorefileUse<'prometheus'>,
  findings: CorefileFindings,
): void {
  const { hasRuntimeMetrics } = options;
  if (hasRuntimeMetrics)
    findings.warn(
      position,
      'runtime_metrics has no effect: there is no Go run time. The families process_* and portolan_* are always shown.',
    );
}

/** Warns of blocks without `prometheus`, unless no block has it. */
function findUncountedBlocks(blocks: readonly Block[], findings: CorefileFindings): void {
  const isCounted = ({ plugins }: Block) => plugins.some(({ name }) => name === 'prometheus');
  if (!blocks.some(isCounted)) return;
  for (const block of blocks) {
    const [key] = block.keys;
    if (key !== undefined && !isCounted(block))
      findings.warn(
        key.position,
        'Other server blocks have prometheus and this one has not, so its queries are not counted.',
      );
  }
}

function findParentsOfZones(blocks: readonly Block[], findings: CorefileFindings): void {
  const keys = blocks.flatMap((block) => block.keys);
  const first = new Map<string, { readonly key: ServerKey; readonly place: number }>();
  for (const [place, key] of keys.entries()) {
    const at = `${key.port} ${key.zone}`;
    if (!first.has(at)) first.set(at, { key, place });
  }
  for (const { zone, port, shown, position } of keys) {
    const parents = listAncestors(zone).flatMap((name) => first.get(`${port} ${name}`) ?? []);
    const [parent] = parents.sort((one, other) => one.place - other.place);
    if (parent !== undefined)
      findings.warn(
        position,
        `Questions for DS at and below ${shown} go to the server block of ${parent.key.shown}, which serves its parent.`,
      );
  }
}

/** The names above a zone but for the root. */
function listAncestors(zone: NameKey): readonly NameKey[] {
  const names: NameKey[] = [];
  for (let name = toParent(zone); name !== undefined && name !== ROOT; name = toParent(name))
    names.push(name);
  return names;
}
