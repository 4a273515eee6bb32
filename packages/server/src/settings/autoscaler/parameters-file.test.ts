import { expect, it } from 'vitest';
import { ParametersFileError, readParametersFile } from './parameters-file.ts';

const LINEAR = '{"nodesPerReplica":16}';

it.each([
  ['a ConfigMap', `kind: ConfigMap\ndata:\n  linear: '${LINEAR}'\n`],
  ['parameters by their modes', `{"linear":${LINEAR}}`],
])('reads %s', async (_, text) => {
  expect([...(await readParametersFile('file', text))]).toEqual([['linear', LINEAR]]);
});

it.each([
  ['[', 'Flow sequence'],
  ['one: 1\none: 2\n', 'Map keys must be unique'],
  ['text', 'no object'],
  ['? '.repeat(1000), 'levels'],
])('refuses %j', async (text, reason) => {
  const error = await readParametersFile('limits.yaml', text).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ParametersFileError);
  expect(String(error)).toContain('limits.yaml');
  expect(String(error)).toContain(reason);
});
