/**
 * `stub-zones`: zones whose names other servers answer. Their queries skip the plugins in between.
 */
import type { Handler } from '../../chain/handler.ts';
import { namesWithin, type Questions } from '../../chain/match.ts';
import { definePlugin } from '../../contract/define-plugin.ts';
import type { Plugin, PluginContext } from '../../contract/plugin.ts';
import { BLOCK } from '../../contract/services.ts';
import { type NameKey, TYPE } from '../../wire/types.ts';

export interface StubZonesOptions {
  readonly zones: readonly NameKey[];
  /** The name of the plugin that gets their queries. */
  readonly to: string;
}

export const stubZones = definePlugin({
  name: 'stub-zones',
  create: (options: StubZonesOptions, context) => new StubZones(options, context),
});

export class StubZones implements Plugin {
  readonly handler: Handler;
  readonly #questions: Questions;

  constructor({ zones, to }: StubZonesOptions, { use }: PluginContext) {
    const { chainFrom } = use(BLOCK);
    const questions = namesWithin(new Set(zones));
    this.#questions = questions;
    this.handler = {
      name: 'stub-zones',
      role: 'other',
      answers: 'unchanged',
      questions,
      handle: (query, next) =>
        questions.includes(query.key, query.question.type) ? chainFrom(to)(query) : next(query),
    };
  }

  has(name: NameKey): boolean {
    return this.#questions.includes(name, TYPE.A);
  }
}
