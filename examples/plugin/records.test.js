import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toKey, toName } from '@portolan/plugin';
import records from './records.js';

const word = (text) => ({ text, position: { file: 'Corefile', line: 1 } });
const line = (text) => text.split(' ').map(word);

/** `NAME TTL TYPE ADDRESS`, as a host reads it. */
function readRecord(text, origin) {
  const [name, ttl, kind, address] = text.split(' ');
  if (kind !== 'A') throw new Error('not read here');
  return { name: toName(`${name}.${origin}`), class: 1, ttl: Number(ttl), data: { kind, address } };
}

function make(...lines) {
  const uses = [{ head: word('records'), args: [word('a.test')], lines: lines.map(line) }];
  const cursor = { whole: (read) => read(uses) };
  const options = records.read(cursor, { zones: [toKey('.')], resolve: (path) => path, readRecord });
  return records.create(options, { use: () => ({ family: () => ({ with: () => ({}) }) }) });
}

const ask = ({ handler }, name, type) =>
  handler.handle({ question: { name, type, class: 1 }, key: toKey(name), count() {} }, () => 'passed on');

test('answers with the capitals of the question', async () => {
  const { records: found } = await ask(make('www 60 A 192.0.2.1'), 'WWW.a.test.', 1);
  const data = { kind: 'A', address: '192.0.2.1' };
  assert.deepEqual(found, [{ name: 'WWW.a.test.', class: 1, ttl: 60, data }]);
});

test('tells a name without records of the type from one that does not exist', async () => {
  const plugin = make('b.www 60 A 192.0.2.1');
  assert.equal((await ask(plugin, 'b.www.a.test.', 28)).kind, 'nodata');
  assert.equal((await ask(plugin, 'www.a.test.', 1)).kind, 'nodata');
  assert.equal((await ask(plugin, 'x.a.test.', 1)).kind, 'nxdomain');
});

test('passes unknown names on if they fall through', async () => {
  assert.equal(await ask(make('www 60 A 192.0.2.1', 'fallthrough'), 'x.a.test.', 1), 'passed on');
});

test('names the place of a mistake', () => {
  assert.throws(() => make('www 60 ADDRESS 192.0.2.1'), {
    name: 'Fault',
    position: { file: 'Corefile', line: 1 },
  });
});
