/**
 * The changes of plugins and options between releases of CoreDNS: when each is reported, and how a line is changed for it.
 */
import type { DraftBlock } from './draft.ts';
import type { DraftLine } from './draft-line.ts';

/** The words of the notices. `newdefault`: added to the Corefiles that come with Kubernetes. */
export type Severity = 'deprecated' | 'ignored' | 'removed' | 'newdefault';

export interface PluginChange {
  readonly plugin: string;
  readonly severity: Exclude<Severity, 'newdefault'>;
  /** The range of releases in which it counts. */
  readonly in: string;
  readonly replacedBy?: string;
  /** Changes the plugin, or takes it out. */
  apply(line: DraftLine): void;
}

export interface OptionChange extends Omit<PluginChange, 'replacedBy'> {
  readonly option: string;
  /** Default: all. */
  concerns?(line: DraftLine): boolean;
}

const remove = (line: DraftLine): void => line.remove();
const keepFirstArgument = (line: DraftLine): void => line.setWords(...line.words.slice(0, 2));

export const PLUGIN_CHANGES: readonly PluginChange[] = [
  { plugin: 'proxy', severity: 'deprecated', in: '1.4.0', replacedBy: 'forward', apply: turnIntoForward },
  { plugin: 'proxy', severity: 'removed', in: '1.5.0-', replacedBy: 'forward', apply: turnIntoForward },
  { plugin: 'federation', severity: 'removed', in: '1.7.0-', apply: remove },
];

export const OPTION_CHANGES: readonly OptionChange[] = [
  {
    plugin: 'proxy',
    option: 'protocol',
    severity: 'removed',
    in: '1.2.0-1.3.1',
    apply: remove,
    concerns: (line) => line.args[0] === 'https_google',
  },
  kubernetesChange('endpoint', 'deprecated', '1.3.1', keepFirstArgument),
  kubernetesChange('endpoint', 'ignored', '1.4.0-', keepFirstArgument),
  kubernetesChange('upstream', 'deprecated', '1.4.0', remove),
  kubernetesChange('upstream', 'ignored', '1.5.0-1.6.9', remove),
  kubernetesChange('upstream', 'removed', '1.7.0-', remove),
  kubernetesChange('resyncperiod', 'deprecated', '1.5.0-1.5.2', remove),
  kubernetesChange('resyncperiod', 'ignored', '1.6.0-1.6.9', remove),
  kubernetesChange('resyncperiod', 'removed', '1.7.0-', remove),
  kubernetesChange('transfer', 'removed', '1.8.0-', remove),
];

function kubernetesChange(
  option: string,
  severity: OptionChange['severity'],
  range: string,
  apply: OptionChange['apply'],
): OptionChange {
  return { plugin: 'kubernetes', option, severity, in: range, apply };
}

/** Options that a release adds to plugins that lack them. */
export const NEW_OPTIONS = [
  { plugin: 'health', option: 'lameduck', value: '5s', in: '1.6.5' },
  { plugin: 'forward', option: 'max_concurrent', value: '1000', in: '1.7.0' },
] as const;

/** Plugins that a release adds to server blocks that have one of some others. */
export const NEW_PLUGINS = [
  { plugin: 'loop', beside: ['forward', 'proxy'], in: '1.2.1' },
  { plugin: 'ready', beside: ['kubernetes'], in: '1.5.0' },
] as const;

/** Releases at which forwarding of single domains moves into server blocks of its own. */
export const STUB_RELEASES: readonly string[] = ['1.4.0', '1.5.0'];

/** `forward` has no such options. */
const WITHOUT_SUCCESSOR = ['fail_timeout', 'max_fails', 'health_check', 'spray'];

function turnIntoForward(line: DraftLine): void {
  line.setWords('forward', ...line.args);
  for (const option of line.lines()) {
    if (WITHOUT_SUCCESSOR.includes(option.name)) option.remove();
    // The default policy of forward is the nearest one.
    if (option.name === 'policy' && option.args[0] === 'least_conn') option.remove();
    if (option.name === 'protocol') turnIntoForceTcp(option);
  }
}

/** `proxy` wrote `protocol dns force_tcp`. */
function turnIntoForceTcp(option: DraftLine): void {
  const [protocol, flag] = option.args;
  if ((protocol === 'dns' && flag === 'force_tcp') || (protocol === 'force_tcp' && flag !== undefined))
    option.setWords('force_tcp');
  else option.remove();
}

/** Before 1.8.0, `kubernetes` had an option `transfer`; from then on it is a plugin. */
export function copyTransfers({ line: block }: DraftBlock): void {
  for (const kubernetes of block.lines().filter(({ name }) => name === 'kubernetes')) {
    const [to] = kubernetes.lines().filter(({ name, args }) => name === 'transfer' && args.length > 1);
    if (to === undefined || block.has('transfer')) continue;
    const words = ['transfer', ...kubernetes.args.slice(0, 1)];
    block.add({ words, inner: [{ words: ['to', ...to.args.slice(1)] }] });
  }
}

/** A migration that would lose a setting. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

const ROOT_KEYS = ['.', '.:53'];

/**
 * Moves `forward` for a single domain into a server block of its own, because a block may have several only since 1.6.
 *
 * @param zones the keys of all blocks
 * @throws MigrationError in the words of CoreDNS's tool
 */
export function moveStubs({ line: block, file }: DraftBlock, zones: ReadonlySet<string>): void {
  for (const forward of block.lines().filter(({ name }) => name === 'forward')) {
    const [zone, ...servers] = forward.args;
    if (zone === undefined) throw new MigrationError('found invalid forward plugin declaration');
    if (zone === '.') continue;
    const [key = '', ...further] = block.words;
    if (further.length > 0) throw new MigrationError('unhandled migration of multi-domain/port server block');
    if (!ROOT_KEYS.includes(key))
      throw new MigrationError('unhandled migration of non-default domain/port server block');
    forward.setWords('forward', '.', ...servers);
    forward.moveAway();
    // A server block of this zone has always answered for it.
    if (zones.has(zone)) continue;
    const lines = [['errors'], ['cache', '30'], ['loop']].map((words) => ({ words }));
    file.addBlock({ key: zone + key.slice(1), lines, moved: forward });
  }
}
