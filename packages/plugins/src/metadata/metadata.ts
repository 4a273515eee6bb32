/**
 * Makes facts about queries known: those that handlers note, and those of the plugins that describe queries.
 */
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { NO_QUESTIONS } from '@portolan/kernel/chain/match.ts';
import type { FactSource } from '@portolan/kernel/chain/query.ts';
import type { Plugin } from '@portolan/kernel/contract/plugin.ts';

export class MetadataPlugin implements Plugin {
  readonly handler: Handler;
  readonly #sources: FactSource[] = [];

  constructor() {
    this.handler = {
      name: 'metadata',
      role: 'other',
      questions: NO_QUESTIONS,
      answers: 'unchanged',
      handle: (query, next) => {
        query.collectMetadata(this.#sources);
        return next(query);
      },
    };
  }

  /** A plugin of the same block that describes queries. */
  add(source: FactSource): void {
    this.#sources.push(source);
  }

  get factSources(): readonly FactSource[] {
    return this.#sources;
  }
}
