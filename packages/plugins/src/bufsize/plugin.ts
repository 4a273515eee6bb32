/**
 * `bufsize`: keeps responses small enough that they are not fragmented. The configured UDP size replaces a larger one in a query.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { DirectiveError } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseInteger } from '@portolan/corefile/directive/go-values.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { NO_QUESTIONS } from '@portolan/kernel/chain/match.ts';

export interface BufsizeOptions {
  /** Octets, 512 to 4096. It replaces a larger size in a query; queries without EDNS stay without it. */
  readonly size: number;
}

const DEFAULT_SIZE = 1232;
const MIN_SIZE = 512;
const MAX_SIZE = 4096;

/** `bufsize [SIZE]`: 512 to 4096, 1232. Source: plugin/bufsize of CoreDNS 1.14.7. */
export const bufsize = definePlugin({
  name: 'bufsize',
  syntax: ['bufsize [SIZE]'],
  read(cursor): BufsizeOptions {
    let size = DEFAULT_SIZE;
    cursor.firstUse(() => {
      const words = cursor.remainingArguments();
      const given = parseInteger(words[0] ?? String(DEFAULT_SIZE));
      const isRight =
        words.length <= 1 && given.kind === 'good' && given.value >= MIN_SIZE && given.value <= MAX_SIZE;
      if (!isRight) {
        const { message, position } = cursor.argumentError();
        // CoreDNS writes the plugin's name twice here.
        const remedy = `Give one number of octets from ${MIN_SIZE} to ${MAX_SIZE}.`;
        throw new DirectiveError(`plugin/bufsize: ${message}`, position, remedy);
      }
      size = given.value;
    });
    return { size };
  },
  create: (options) => ({ handler: createBufsizeHandler(options) }),
});

export function createBufsizeHandler({ size }: BufsizeOptions): Handler {
  return {
    name: 'bufsize',
    role: 'other',
    questions: NO_QUESTIONS,
    // Readers bound the size as well.
    answers: 'modifiers',
    maxUdpSize: size,
    handle(query, next) {
      if (query.edns === undefined || query.edns.udpSize <= size) return next(query);
      const edns = { ...query.edns, udpSize: size };
      query.repeat({ edns });
      return next(query.with({ edns }));
    },
  };
}
