import assert from 'node:assert/strict';
import { test } from 'node:test';
import records from './records.js';

const word = (text) => ({ text, at: 'Corefile:1' });
const line = (text) => text.split(' ').map(word);

function make(...lines) {
  const uses = [{ name: word('records'), args: [word('a.test')], lines: lines.map(line) }];
  const options = records.parse(uses, { zones: ['.'], resolve: (path) => path });
  return records.create(options, { counter: () => ({ add() {} }) });
}

const ask = (instance, name, type) => instance.handle({ name, type }, async () => 'passed on');

test('answers with the capitals of the question', async () => {
  const reply = await ask(make('www 60 A 192.0.2.1'), 'WWW.a.test.', 1);
  assert.deepEqual(reply.records, [{ name: 'WWW.a.test.', type: 1, ttl: 60, data: '192.0.2.1' }]);
});

test('tells a name without records of the type from one that does not exist', async () => {
  const instance = make('b.www A 192.0.2.1');
  assert.equal((await ask(instance, 'b.www.a.test.', 28)).exists, true);
  assert.equal((await ask(instance, 'www.a.test.', 1)).exists, true);
  assert.equal((await ask(instance, 'x.a.test.', 1)).exists, false);
});

test('passes unknown names on if they fall through', async () => {
  assert.equal(await ask(make('www A 192.0.2.1', 'fallthrough'), 'x.a.test.', 1), 'passed on');
});

test('names the place of a mistake', () => {
  assert.throws(() => make('www ADDRESS 192.0.2.1'), { name: 'Fault', at: 'Corefile:1' });
});
