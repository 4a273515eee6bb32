/**
 * A front end whose block has further plugins from a file (`--blocks-extra`).
 */
import type { Log } from '../base/log.ts';
import type { ExtraReading } from '../config/blocks-extra/extra-plugins.ts';
import { joinPlugins } from '../config/server/plain-block.ts';
import type { ServerPlan } from '../config/server/server-plan.ts';
import type { PluginUse } from '../contract/plugin-use.ts';
import type { FrontEnd, FrontEndStats, PlanListener, ServingFacts, Watching } from './front-end.ts';
import type { ObjectSource } from './object-source.ts';

export interface ExtendedFrontEndOptions {
  readonly plugins: readonly PluginUse[];
  /** Reads the current file. */
  readonly read: () => ExtraReading;
  readonly log: Log;
}

export class ExtendedFrontEnd implements FrontEnd {
  readonly #base: FrontEnd;
  readonly #options: ExtendedFrontEndOptions;
  #plugins: readonly PluginUse[];
  #onChange: PlanListener = async () => {};

  constructor(base: FrontEnd, options: ExtendedFrontEndOptions) {
    this.#base = base;
    this.#options = options;
    this.#plugins = options.plugins;
  }

  get plan(): ServerPlan {
    return this.#extend(this.#base.plan);
  }

  get watching(): Watching | undefined {
    return this.#base.watching;
  }

  get isSettled(): boolean {
    return this.#base.isSettled;
  }

  get reloadsPlanAlone(): boolean {
    return this.#base.reloadsPlanAlone;
  }

  async open(): Promise<void> {
    await this.#base.open?.();
  }

  async start(onChange: PlanListener, source: ObjectSource | undefined): Promise<void> {
    this.#onChange = onChange;
    await this.#base.start((plan, clearsCache) => onChange(this.#extend(plan), clearsCache), source);
  }

  async leaving(): Promise<void> {
    await this.#base.leaving?.();
  }

  /** Keeps the current plugins if the file has faults. */
  async reload(): Promise<void> {
    const { read, log } = this.#options;
    const reading = read();
    if (reading.kind === 'bad') {
      for (const reason of reading.problems) log.error('blocks-extra not followed', { reason });
    } else {
      this.#plugins = reading.plugins;
      await this.#onChange(this.plan, false);
    }
    await this.#base.reload();
  }

  stats(): FrontEndStats {
    return this.#base.stats();
  }

  announce(facts: ServingFacts): void {
    this.#base.announce(facts);
  }

  stop(): Promise<void> {
    return this.#base.stop();
  }

  #extend(plan: ServerPlan): ServerPlan {
    return { ...plan, engine: joinPlugins(plan.engine, this.#plugins) };
  }
}
