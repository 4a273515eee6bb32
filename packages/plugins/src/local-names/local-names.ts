/**
 * Hosts files, records of options, and rules: names that are known without asking. They outlive plans with the same settings for
 * them.
 */
import { isDeepStrictEqual } from 'node:util';
import { ROOT } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import type { Plugin, PluginContext, StopReason } from '@portolan/kernel/contract/plugin.ts';
import { RefCounted } from '@portolan/kernel/contract/ref-counted.ts';
import { ANSWER_TABLE } from '@portolan/kernel/contract/services.ts';
import type { LocalisedPublication } from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import { Cache } from '../cache/cache.ts';
import { Forward } from '../forward/forward.ts';
import { LocalHandlers, type LocalSettings } from './local-handlers.ts';
import { LOCAL_PLACES, type LocalNamesOptions } from './options.ts';

/** The names, and the plugin of the current plan. */
interface FollowedNames {
  readonly handlers: LocalHandlers;
  plugin: Pick<LocalNamesPlugin, 'changed' | 'forgetKept'>;
}

export class LocalNamesPlugin implements Plugin {
  readonly handler: Handler;
  readonly #options: LocalNamesOptions;
  /** Updates views that show this plugin. @returns false if the views stay as they were */
  readonly changed: () => boolean;
  readonly #lasting: RefCounted<FollowedNames>;
  readonly #find: PluginContext['find'];
  #isNew: boolean;

  constructor(options: LocalNamesOptions, context: PluginContext, former: LocalNamesPlugin | undefined) {
    this.#options = options;
    this.changed = context.changed;
    this.#find = context.find;
    const kept = former === undefined ? undefined : former.#lastingFor(options);
    this.#isNew = kept === undefined;
    this.#lasting = (kept ?? lastingNames(options, context, this)).retain();
    this.handler = this.handlers.knownNames;
  }

  /** Drops cached answers that may be outdated, and keeps readers from forwarding names that have become known. */
  forgetKept(domains: readonly NameKey[]): void {
    for (const domain of domains) this.#find(Cache)?.forget(domain);
    this.#find(Forward)?.update();
  }

  get handlers(): LocalHandlers {
    return this.#lasting.value.handlers;
  }

  get further(): Readonly<Record<string, Handler>> {
    const { denyRefused, questionRules } = this.handlers;
    return { [LOCAL_PLACES.nodata]: denyRefused, [LOCAL_PLACES.rules]: questionRules };
  }

  get localised(): readonly LocalisedPublication[] {
    return this.handlers.localised;
  }

  /** Resolves when all files are read and their names are answered. */
  async start(): Promise<void> {
    if (this.#isNew) await this.handlers.start();
  }

  follow(): void {
    const { settings, networks } = this.#options;
    this.#lasting.value.plugin = this;
    this.handlers.changeRules(settings.questions);
    this.handlers.changeNetworks(networks);
    if (this.#isNew) this.#find(Cache)?.forget(ROOT);
    this.#isNew = false;
  }

  /** Checks for changed files at once. */
  reload(): void {
    this.handlers.reload();
  }

  async stop(reason: StopReason): Promise<void> {
    if (reason === 'ending') this.handlers.stop();
    else await this.#lasting.release();
  }

  #lastingFor({ settings }: LocalNamesOptions): RefCounted<FollowedNames> | undefined {
    return isSameLocal(settings, this.#options.settings) ? this.#lasting : undefined;
  }
}

function lastingNames(
  { settings, networks }: LocalNamesOptions,
  { use, clock, log }: PluginContext,
  plugin: FollowedNames['plugin'],
): RefCounted<FollowedNames> {
  const table = use(ANSWER_TABLE);
  const handlers = new LocalHandlers({
    settings,
    table,
    networks,
    onShow: () => followed.plugin.changed(),
    forget: (domains) => followed.plugin.forgetKept(domains),
    clock,
    log,
  });
  const followed: FollowedNames = { handlers, plugin };
  return new RefCounted(followed, () => retire(handlers, table));
}

/** Frees the table space of local names. No view shows them any more. */
async function retire(local: LocalHandlers, table: TableWriter): Promise<void> {
  local.stop();
  for (const publication of [local.publication, ...local.localised.map((each) => each.publication)]) {
    const steps = table.dropPublication(publication);
    while (steps.next().done !== true) await new Promise((resolve) => setImmediate(resolve));
  }
  local.release();
}

/** Whether local names and rules for replies are the same; rules for questions may differ. */
function isSameLocal(one: LocalSettings, other: LocalSettings): boolean {
  const { questions: _, ...rest } = one;
  const { questions: __, ...otherRest } = other;
  return isDeepStrictEqual(rest, otherRest);
}
