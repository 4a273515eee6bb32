/**
 * An environment as `view` and `template` have it, with values that do not change.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { matchRange } from '@portolan/dns/address-range.ts';
import { parseCidr } from '../../directive/go-values.ts';
import { needText } from '../built-ins/built-in.ts';
import type { EnvironmentTypes } from '../check/checker.ts';
import type { EnvironmentValues } from '../run/run.ts';
import { ANY, BOOL, functionType, type GoType, INT, STRING } from '../types/go-type.ts';
import { EvaluationError } from '../values/budget.ts';
import { type ExpressionValue, GoFunction } from '../values/value.ts';

type Sample = readonly [type: GoType, call: (args: readonly ExpressionValue[]) => ExpressionValue];

const ofQuery = (type: GoType, value: ExpressionValue): Sample => [functionType([], type), () => value];

const GROUPS: Readonly<Record<string, string>> = { '0': 'a.b.example.', '1': 'a', n: '7' };
const METADATA: Readonly<Record<string, string>> = {
  'a/b': 'seven',
  'a/n': '12',
  'a/j': '{"k":[1,2.5,"x",null,true]}',
};

const SAMPLES: ReadonlyMap<string, Sample> = new Map<string, Sample>([
  ['type', ofQuery(STRING, 'A')],
  ['name', ofQuery(STRING, 'a.b.example.')],
  ['class', ofQuery(STRING, 'IN')],
  ['proto', ofQuery(STRING, 'udp')],
  ['size', ofQuery(INT, 40n)],
  ['client_ip', ofQuery(STRING, '10.1.2.3')],
  ['port', ofQuery(STRING, '4711')],
  ['id', ofQuery(INT, 77n)],
  ['opcode', ofQuery(INT, 0n)],
  ['do', ofQuery(BOOL, true)],
  ['bufsize', ofQuery(INT, 1232n)],
  ['server_ip', ofQuery(STRING, '10.0.0.10')],
  ['server_port', ofQuery(STRING, '53')],
  ['metadata', [functionType([STRING], STRING), ([label]) => METADATA[needText(label)] ?? '']],
  [
    'incidr',
    [
      functionType([STRING, STRING], BOOL, ['error']),
      ([address, range]) => {
        const octets = parseAddress(needText(address));
        const read = parseCidr(needText(range));
        if (octets === undefined || read.kind === 'bad') throw new EvaluationError('no address in a range');
        return matchRange(read.value)(octets);
      },
    ],
  ],
  [
    'group',
    [
      functionType([ANY], STRING),
      ([name]) => (typeof name === 'bigint' || typeof name === 'string' ? (GROUPS[String(name)] ?? '') : ''),
    ],
  ],
]);

export const SAMPLE_TYPES: EnvironmentTypes = new Map(Array.from(SAMPLES, ([name, [type]]) => [name, type]));

export const SAMPLE_VALUES: EnvironmentValues = new Map(
  Array.from(SAMPLES, ([name, [type, call]]) => {
    const parameters = type.signature?.parameters.map((parameter) => parameter.name) ?? [];
    return [name, new GoFunction(type.name, parameters, call)];
  }),
);
