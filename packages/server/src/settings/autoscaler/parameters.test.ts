import { expect, test } from 'vitest';
import { ParametersError, readParameters } from './parameters.ts';

const INTEGER = 'Give digits only, as in 2.';
const LARGE = 'Give a smaller number.';

test.each([
  ['linear', '[]', 'not an object: a list. Give an object, as in {"nodesPerReplica":16}.'],
  ['linear', '"x"', 'not an object: "x". Give an object, as in {"nodesPerReplica":16}.'],
  [
    'linear',
    '{"nodesPerReplica":"2"}',
    'nodesPerReplica: not a number: "2". Give a number, as in 16 or 0.5.',
  ],
  [
    'linear',
    '{"nodesPerReplica":1e999}',
    `nodesPerReplica: beyond the range of 64-bit floats: 1e999. ${LARGE}`,
  ],
  ['linear', '{"nodesPerReplica":2,"min":1.5}', `min: not an integer: 1.5. ${INTEGER}`],
  ['linear', '{"nodesPerReplica":2,"min":2.0}', `min: not an integer: 2.0. ${INTEGER}`],
  ['linear', '{"nodesPerReplica":2,"min":1.5,"MIN":2}', `min: not an integer: 1.5. ${INTEGER}`],
  ['linear', '{"nodesPerReplica":2,"min":1.5,"min":2}', `min: not an integer: 1.5. ${INTEGER}`],
  [
    'linear',
    '{"nodesPerReplica":2,"max":9223372036854775808}',
    `max: beyond the range of 64-bit integers: 9223372036854775808. ${LARGE}`,
  ],
  [
    'linear',
    `{"nodesPerReplica":2,"max":${'9'.repeat(1000)}}`,
    `max: beyond the range of 64-bit integers: ${'9'.repeat(60)}…. ${LARGE}`,
  ],
  [
    'linear',
    '{"nodesPerReplica":2,"preventSinglePointFailure":"true"}',
    'preventSinglePointFailure: not true or false: "true". Give true or false, without quotes.',
  ],
  [
    'ladder',
    '{"nodesToReplicas":{"1":2}}',
    'nodesToReplicas: not a list of rungs: an object. Give [[from, replicas], ...].',
  ],
  ['ladder', '{"nodesToReplicas":[1,2]}', 'nodesToReplicas: not a rung: 1. Give [from, replicas].'],
  ['ladder', '{"nodesToReplicas":[["1",2]]}', `nodesToReplicas: not an integer: "1". ${INTEGER}`],
  ['ladder', '{"nodesToReplicas":[[1e1,2]]}', `nodesToReplicas: not an integer: 1e1. ${INTEGER}`],
])('refuses %s parameters %s', (mode, text, words) => {
  const error = `Error syncing configMap with controller: error parsing ${mode} params: could not parse parameters (${words})`;
  expect(() => readParameters(new Map([[mode, text]]))).toThrow(new ParametersError(error));
});
