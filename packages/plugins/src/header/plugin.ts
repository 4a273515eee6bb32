/**
 * `header`: flags that are set or cleared.
 */
import { type Cursor, definePlugin } from '@portolan/plugin';
import { createHeaderHandler } from './header.ts';
import type { HeaderFlagRule, HeaderOptions } from './options.ts';

const FLAGS: readonly HeaderFlagRule['flag'][] = ['aa', 'ra', 'rd'];

/** `header { query|response set|clear FLAG… }`. Only the first use with rules counts. Source: plugin/header of CoreDNS 1.14.7. */
export const header = definePlugin({
  name: 'header',
  joinsBlocks: true,
  syntax: ['header {', '    query|response set|clear aa|ra|rd…', '}'],
  examples: ['header {\n  response set ra\n  query clear rd\n}'],
  read(cursor): HeaderOptions {
    const query: HeaderFlagRule[] = [];
    const response: HeaderFlagRule[] = [];
    let hasFault = false;
    cursor.eachUse(() => {
      const isFirst = query.length + response.length === 0;
      cursor.remainingArguments();
      while (cursor.nextInBlock())
        cursor.guardLine(() => {
          hasFault = true;
          const { selector, rules } = readLine(cursor);
          hasFault = false;
          if (isFirst) (selector === 'query' ? query : response).push(...rules);
        });
      if (!cursor.hasMore() && !hasFault && query.length + response.length === 0)
        throw cursor.argumentError('Write at least one line such as response set ra into its block.');
    });
    return { query, response };
  },
  create: (options) => ({ handler: createHeaderHandler(options) }),
});

function readLine(cursor: Cursor): {
  selector: 'query' | 'response';
  rules: readonly HeaderFlagRule[];
} {
  const selector = cursor.word.toLowerCase();
  const fault = (what: string) =>
    cursor.bareError(`setting up rule: ${what}`, 'Write lines such as response set ra, or query clear rd.');
  if (selector !== 'query' && selector !== 'response')
    throw fault(`invalid selector=${selector} should be query or response`);
  const [action, ...flags] = cursor.remainingArguments();
  if (action === undefined) throw fault('no flag action provided');
  if (flags.length === 0) throw fault('invalid length for flags, at least one should be provided');
  const change = action.toLowerCase();
  if (change !== 'set' && change !== 'clear')
    throw fault(`unknown flag action=${change}, should be set or clear`);
  const rules = flags.map((word) => {
    const flag = FLAGS.find((known) => known === word.toLowerCase());
    if (flag === undefined) throw fault(`unknown/unsupported flag=${word.toLowerCase()}`);
    return { flag, value: change === 'set' };
  });
  return { selector, rules };
}
