/**
 * `log`: a line for each query.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseZone } from '@portolan/corefile/keys/zone-name.ts';
import { ROOT } from '@portolan/dns/name.ts';
import { BLOCK, QUERY_LINES } from '@portolan/kernel/contract/services.ts';
import { createLogHandler } from './log.ts';
import type { LogClass, LogOptions, LogRule } from './options.ts';

const COMMON =
  '{remote}:{port} - {>id} "{type} {class} {name} {proto} {size} {>do} {>bufsize}" {rcode} {>rflags} {rsize} {duration}';
/** The format for `{combined}`. */
const COMBINED = `${COMMON} "{>opcode}"`;
const CLASSES: readonly LogClass[] = ['all', 'success', 'denial', 'error'];

/** Source: plugin/log of CoreDNS 1.14.7. */
export const log = definePlugin({
  name: 'log',
  hasSideEffects: true,
  syntax: ['log [NAMES…] [FORMAT] {', '    class all|success|denial|error…', '}'],
  read(cursor): LogOptions {
    const rules: LogRule[] = [];
    cursor.eachUse(() => {
      const words = cursor.remainingArguments();
      const last = words.at(-1) ?? '';
      // A single word is a name, whatever it contains.
      const hasFormat = words.length > 1 && last.includes('{');
      if (words.length === 1 && last.includes('{'))
        cursor.warn(
          `${JSON.stringify(last)} is taken as a name. Write a dot before a format that is for all names.`,
        );
      const format = hasFormat
        ? last.replaceAll('{common}', COMMON).replaceAll('{combined}', COMBINED)
        : COMMON;
      const names = hasFormat ? words.slice(0, -1) : words;
      const zones = names.length === 0 ? [ROOT] : names.flatMap((name) => parseZone(name) ?? []);
      const classes = readClasses(cursor);
      rules.push(...zones.map((zone) => ({ zone, format, classes })));
    });
    return { rules };
  },
  create: (options, context) => ({
    handler: createLogHandler(options, {
      ...context,
      ...context.use(BLOCK),
      queryLog: context.use(QUERY_LINES),
    }),
  }),
});

function readClasses(cursor: DirectiveCursor): readonly LogClass[] {
  const classes = new Set<LogClass>();
  cursor.properties({
    class: () => {
      const words = cursor.remainingArguments();
      if (words.length === 0) throw cursor.argumentError(`Name classes: ${CLASSES.join(', ')}.`);
      for (const word of words) {
        const given = CLASSES.find((known) => known === word);
        if (given === undefined)
          throw cursor.bareError(`invalid Class: ${word}`, `Known classes are ${CLASSES.join(', ')}.`);
        classes.add(given);
      }
    },
  });
  return classes.size === 0 ? ['all'] : [...classes];
}
