/**
 * `auto`: zones from all files of a folder.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { type DirectiveContext, type Draft, zonesOrBlock } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseGoDuration } from '@portolan/corefile/directive/go-values.ts';
import { compilePattern } from '@portolan/corefile/directive/patterns.ts';
import { Pattern } from '@portolan/kernel/base/pattern.ts';
import { ofKind } from '@portolan/kernel/contract/plugin.ts';
import { ANSWER_TABLE, LOSSES, PLAN } from '@portolan/kernel/contract/services.ts';
import { Transfer } from '../transfer/transfer.ts';
import { Auto, type AutoDependencies } from './auto.ts';
import type { AutoOptions } from './options.ts';

const DEFAULT_RELOAD = 60_000;
const DEFAULT_PATTERN = 'db\\.(.*)';

/** `auto [ZONES…] { directory DIR [REGEX ORIGIN]; reload DURATION }`. Source: plugin/auto of CoreDNS 1.14.7. */
export const auto = definePlugin({
  name: 'auto',
  answers: true,
  syntax: ['auto [ZONES…] {', '    directory DIR [REGEX ORIGIN]', '    reload DURATION', '}'],
  read(cursor, context): AutoOptions {
    const draft: Draft<AutoOptions> = {
      zones: [],
      directory: undefined,
      pattern: new Pattern(DEFAULT_PATTERN),
      origin: '{1}',
      reload: DEFAULT_RELOAD,
    };
    cursor.eachUse(() => {
      draft.zones = zonesOrBlock(cursor.remainingArguments(), context);
      cursor.properties({
        directory: () => readDirectory(cursor, context, draft),
        reload: () => {
          draft.reload = readReload(cursor);
        },
        upstream: () => {
          cursor.remainingArguments();
          cursor.warn('"upstream" has had no effect since CoreDNS 1.5.0. Take it out.');
        },
      });
    });
    return draft;
  },
  create(options, context, former) {
    const transfer = context.find(Transfer);
    const table = context.use(ANSWER_TABLE);
    const dependencies: AutoDependencies = {
      ...context,
      ...context.use(PLAN),
      losses: context.use(LOSSES),
      chain: context.lookUp,
      onChange(origin) {
        table.planChanged();
        transfer?.notify(origin);
      },
      onRemove: () => table.planChanged(),
    };
    const made = new Auto(options, dependencies, ofKind(Auto, former));
    transfer?.add(made);
    return made;
  },
});

function readDirectory(cursor: DirectiveCursor, context: DirectiveContext, draft: Draft<AutoOptions>): void {
  const remedy = 'Write directory DIR, or directory DIR REGEX ORIGIN, as in directory zones db\\.(.*) {1}.';
  const named = cursor.requiredArgument();
  const directory = context.resolve(named);
  draft.directory = directory;
  if (context.files.findKind(directory) === undefined)
    cursor.warn('Its zones are served as soon as it is there.', `Directory does not exist: ${directory}`);
  const source = cursor.argument();
  if (source === undefined) return;
  const pattern = compilePattern(source, {
    tooLong: () => cursor.error('regexp too large', 'Write a shorter expression.'),
    invalid: (fault) => cursor.bareError(fault, 'Correct the expression; its syntax is that of Go.'),
  });
  if (pattern.groupCount === 0)
    throw cursor.error('Need at least one sub expression', 'Put the part with the origin into parentheses.');
  draft.pattern = pattern;
  draft.origin = cursor.requiredArgument();
  if (cursor.argument() !== undefined) throw cursor.argumentError(remedy);
}

function readReload(cursor: DirectiveCursor): number {
  const [text] = cursor.remainingArguments();
  const remedy = 'Give a duration such as 30s, or 0 to read the folder once.';
  if (text === undefined) throw cursor.bareError('reload duration value is expected', remedy);
  const duration = parseGoDuration(text);
  // CoreDNS names the plugin file here too.
  if (duration.kind === 'bad') throw cursor.bareError(`plugin/file: ${duration.fault}`, remedy);
  if (duration.value < 0) throw cursor.bareError('plugin/file: invalid duration', remedy);
  return duration.value;
}
