import { statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { RecordingLog } from '../base/testing/recording-log.ts';
import { makeTemporaryFolder } from '../base/testing/temporary-folder.ts';
import { ControlSocket, ControlSocketError, sendOrder } from './control-socket.ts';

const started: ControlSocket[] = [];

afterEach(async () => {
  for (const socket of started.splice(0)) await socket.stop();
});

async function start(path: string, log = new RecordingLog()): Promise<ControlSocket> {
  const handle = async (words: readonly string[]) => {
    if (words[0] !== 'echo') throw new Error(`unknown order: ${words[0]}`);
    return words.slice(1).join(',');
  };
  const socket = new ControlSocket(path, handle, log);
  started.push(socket);
  await socket.start();
  return socket;
}

const makePath = async () => join((await makeTemporaryFolder()).path, 'control');

it('answers orders, and says what is wrong with others', async () => {
  const path = await makePath();
  const log = new RecordingLog();
  await start(path, log);
  expect(await sendOrder(path, ['echo', 'a', 'b'])).toBe('ok a,b');
  expect(await sendOrder(path, ['echo'])).toBe('ok');
  expect(await sendOrder(path, ['shout'])).toBe('error: unknown order: shout');
  expect(log.records.map(({ message }) => message)).toEqual([
    'order carried out',
    'order carried out',
    'order refused',
  ]);
});

it('is for the user of the server alone', async () => {
  const path = await makePath();
  await start(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('takes the place of a socket without a listener, and of no other', async () => {
  const path = await makePath();
  const first = await start(path);
  await expect(start(path)).rejects.toThrow(ControlSocketError);
  await first.stop();
  writeFileSync(path, '');
  await expect(start(path)).resolves.toBeDefined();
  await expect(start('/nonexistent/control')).rejects.toThrow('--control-socket');
});

it('is not held by a client that sends no end', async () => {
  const path = await makePath();
  await start(path);
  const socket = connect(path);
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.write('x'.repeat(10_000));
  await closed;
});
