/**
 * Zones whose names other servers answer: their queries skip the plugins in between.
 */
import type { Handler } from '../../chain/handler.ts';
import { namesWithin, type Questions } from '../../chain/match.ts';
import type { Plugin, PluginContext } from '../../contract/plugin.ts';
import { type NameKey, TYPE } from '../../wire/types.ts';
import type { StubZonesOptions } from './options.ts';

export class StubZones implements Plugin {
  readonly handler: Handler;
  readonly #questions: Questions;

  constructor({ zones, to }: StubZonesOptions, { chainFrom }: PluginContext) {
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
