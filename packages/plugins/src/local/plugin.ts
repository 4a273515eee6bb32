/**
 * `local`: names of the host itself.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { createLocalhostHandler } from './localhost.ts';
import type { LocalOptions } from './options.ts';

/** `local { localhost_prefix on|off }`. Source: plugin/local of CoreDNS 1.14.7. */
export const local = definePlugin({
  name: 'local',
  answers: true,
  joinsBlocks: true,
  syntax: ['local {', '    localhost_prefix on|off', '}'],
  read(cursor): LocalOptions {
    let answersLocalhostPrefix = true;
    cursor.eachUse(() => {
      cursor.remainingBetween(0, 0);
      cursor.properties({
        localhost_prefix: () => {
          answersLocalhostPrefix = readSwitch(cursor);
        },
      });
    });
    return { answersLocalhostPrefix };
  },
  create: (options, { metrics }) => ({ handler: createLocalhostHandler(options, metrics) }),
});

function readSwitch(cursor: DirectiveCursor): boolean {
  const [text = ''] = cursor.remainingBetween(1, 1);
  if (text === 'on' || text === 'off') return text === 'on';
  throw cursor.error(
    `localhost_prefix expects 'on' or 'off', got ${JSON.stringify(text)}`,
    'Give one of the two.',
  );
}
