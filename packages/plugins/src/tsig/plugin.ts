/**
 * `tsig`: signatures of queries and responses by shared secrets.
 */

import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { type DirectiveContext, type Draft, zonesOrBlock } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseExactType } from '@portolan/corefile/directive/type-names.ts';
import { tryParseKey } from '@portolan/dns/name.ts';
import { DEFAULT_ALGORITHM, isKnownAlgorithm } from '@portolan/dns/tsig.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { parseBase64 } from '@portolan/kernel/base/base64.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { KeyFileError, readKeyFile, type WrittenKey } from './key-file.ts';
import type { NamedSecret, TsigOptions } from './options.ts';
import { Tsig } from './tsig.ts';

const OPCODES: ReadonlyMap<string, number> = new Map(
  ['QUERY', 'IQUERY', 'STATUS', '', 'NOTIFY', 'UPDATE'].map((name, number) => [name, number]),
);

/** Source: plugin/tsig of CoreDNS 1.14.7, which has one message for all faults. */
export const tsig = definePlugin({
  name: 'tsig',
  syntax: [
    'tsig [ZONES…] {',
    '    secret NAME SECRET',
    '    secrets FILE',
    '    require all|none|TYPE…',
    '    require_opcode all|none|OPCODE…',
    '}',
  ],
  read(cursor, context): TsigOptions {
    const draft: Draft<TsigOptions> = {
      zones: context.zones,
      keys: [],
      unusable: [],
      types: new Set(),
      opcodes: new Set(),
    };
    cursor.onlyUse(() => {
      draft.zones = zonesOrBlock(cursor.remainingArguments(), context);
      readProperties(cursor, draft, context);
    });
    return draft;
  },
  create: (options, context) => new Tsig(options, context),
});

function readProperties(cursor: DirectiveCursor, draft: Draft<TsigOptions>, context: DirectiveContext): void {
  cursor.properties(
    {
      secret: () => {
        const words = cursor.remainingArguments();
        const [name, secret] = words;
        if (name === undefined || secret === undefined || words.length > 2)
          throw cursor.argumentError('Give the name of a key and its secret in base64.');
        addKey(cursor, draft, { name, secret, algorithm: undefined });
      },
      secrets: () => {
        const words = cursor.remainingArguments();
        const [path] = words;
        if (path === undefined || words.length > 1) throw cursor.argumentError('Name a file of keys.');
        for (const key of readKeys(cursor, context.resolve(path), context)) addKey(cursor, draft, key);
      },
      require: () => {
        draft.types = readRequired(
          cursor,
          parseExactType,
          'Give types in capitals, as in require AXFR IXFR.',
        );
      },
      require_opcode: () => {
        const findOpcode = (word: string) => OPCODES.get(word);
        draft.opcodes = readRequired(cursor, findOpcode, 'Give opcodes, as in require_opcode NOTIFY.');
      },
    },
    () => cursor.argumentError('Known here: secret, secrets, require, require_opcode.'),
  );
}

function readKeys(cursor: DirectiveCursor, path: string, { files }: DirectiveContext): readonly WrittenKey[] {
  try {
    return readKeyFile(files.read(path));
  } catch (error) {
    const fault = describeError(error);
    const remedy =
      error instanceof KeyFileError ? 'as in key "a." { secret "c2VjcmV0"; };' : 'that can be read';
    throw cursor.argumentError(`Name a file of keys, ${remedy} (${fault})`);
  }
}

function addKey(cursor: DirectiveCursor, draft: Draft<TsigOptions>, written: WrittenKey): void {
  const name = tryParseKey(written.name);
  if (name === undefined) throw cursor.argumentError(`${written.name} is not a name. Give each key one.`);
  if (draft.keys.some((key) => key.name === name) || draft.unusable.includes(name))
    throw cursor.argumentError(`The key ${name} is there already. Give each key once.`);
  const secret = parseBase64(written.secret);
  if (secret === undefined || secret.length === 0) {
    cursor.warn(
      'Make one with tsig-keygen or keymgr.',
      `The secret of ${name} is not in base64: each message signed by it is refused (BADSIG)`,
    );
    draft.unusable = [...draft.unusable, name];
    return;
  }
  draft.keys = [...draft.keys, { name, secret, algorithm: parseAlgorithm(written.algorithm) }];
}

/** CoreDNS ignores algorithms; an unknown one is not used for our own messages. */
function parseAlgorithm(text: string | undefined): NamedSecret['algorithm'] {
  const name = `${text?.toLowerCase().replace(/\.$/, '') ?? ''}.`;
  // Known names are keys.
  return isKnownAlgorithm(name) ? (name as NameKey) : DEFAULT_ALGORITHM;
}

function readRequired(
  cursor: DirectiveCursor,
  findNumber: (word: string) => number | undefined,
  remedy: string,
): 'all' | ReadonlySet<number> {
  const words = cursor.remainingArguments();
  const [first] = words;
  if (first === undefined) throw cursor.argumentError(remedy);
  if (first === 'all') return 'all';
  if (first === 'none') return new Set();
  return new Set(
    words.map((word) => {
      const number = findNumber(word);
      if (number === undefined) throw cursor.argumentError(remedy);
      return number;
    }),
  );
}
