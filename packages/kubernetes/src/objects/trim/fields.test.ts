import { expect, it } from 'vitest';
import { toTextMap } from './fields.ts';

it.each([
  [
    { app: 'dns', tier: '' },
    { app: 'dns', tier: '' },
  ],
  [
    { port: 53, on: true, none: null },
    { port: '53', on: 'true', none: 'null' },
  ],
  [JSON.parse('{"__proto__":"x"}'), JSON.parse('{"__proto__":"x"}')],
  [['a'], {}],
  ['text', {}],
  [null, {}],
  [undefined, {}],
])('reads the texts of %j', (value, texts) => {
  expect([...toTextMap(value)]).toEqual(Object.entries(texts));
});
