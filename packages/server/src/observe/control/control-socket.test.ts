import { statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { NoServerError, RequestFailedError, requestControl } from './control-client.ts';
import { type ControlPlace, createAbstractPlace, placeOfServer, placesToAsk } from './control-place.ts';
import { ControlSocket, ControlSocketError, type ControlSocketOptions } from './control-socket.ts';
import type { ControlRequest } from './protocol.ts';

const started: ControlSocket[] = [];
const log = new RecordingLog();

afterEach(async () => {
  for (const socket of started.splice(0)) await socket.stop();
});

async function* echo({ verb, words }: ControlRequest, signal: AbortSignal): AsyncIterable<unknown> {
  if (verb === 'for-ever') {
    yield 'first';
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    log.info('the client has left');
    return;
  }
  if (verb !== 'echo') throw new Error(`unknown: ${verb}`);
  yield* words;
}

async function start(
  place: ControlPlace,
  further: Partial<ControlSocketOptions> = {},
): Promise<ControlSocket> {
  const socket = new ControlSocket({
    place,
    role: 'test',
    carryOut: echo,
    changes: () => false,
    log,
    ...further,
  });
  started.push(socket);
  await socket.start();
  return socket;
}

const makePath = async () => join((await makeTemporaryFolder()).path, 'control');
const fileAt = (path: string) => ({ kind: 'file', path, isDefault: false }) as const;

async function ask(path: string, verb: string, ...words: readonly string[]): Promise<readonly unknown[]> {
  const data: unknown[] = [];
  for await (const each of requestControl(path, { verb, words })) data.push(each);
  return data;
}

/** The raw reply to a raw line. */
function send(path: string, line: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(path, () => socket.write(line));
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}

const OTHER = (process.geteuid?.() ?? 0) + 1;

describe('a request', () => {
  it('gets any number of lines, and an end', async () => {
    const path = await makePath();
    await start(fileAt(path));
    expect(await ask(path, 'echo', 'a', 'b c')).toEqual(['a', 'b c']);
    expect(await ask(path, 'echo')).toEqual([]);
    expect(await send(path, '{"portolan":1,"verb":"echo","words":["x"]}\n')).toBe(
      '{"data":"x"}\n{"end":"done"}\n',
    );
  });

  it('that fails says why', async () => {
    const path = await makePath();
    await start(fileAt(path));
    await expect(ask(path, 'shout')).rejects.toThrow(new RequestFailedError('unknown: shout'));
    expect(await send(path, '{"portolan":2,"verb":"echo"}\n')).toContain(
      'version of the protocol not known: 2',
    );
    expect(await send(path, 'status\n')).toContain('not a line of JSON');
    expect(await send(path, '{"portolan":1,"verb":"echo","words":[1]}\n')).toContain(
      'words: not a list of texts',
    );
  });

  it('ends when its client leaves', async () => {
    const path = await makePath();
    await start(fileAt(path));
    for await (const data of requestControl(path, { verb: 'for-ever', words: [] })) {
      expect(data).toBe('first');
      break;
    }
    await expect.poll(() => log.records.some(({ message }) => message === 'the client has left')).toBe(true);
  });

  it('of another user is refused', async () => {
    const path = await makePath();
    await start(fileAt(path), { findPeer: () => ({ process: 1, user: OTHER }) });
    expect(await send(path, '{"portolan":1,"verb":"echo"}\n')).toBe(
      '{"end":"failed","reason":"the server belongs to another user. Run this as that user, or as root."}\n',
    );
    expect(log.records.some(({ message }) => message === 'control request refused')).toBe(true);
  });
});

describe('over an abstract name, a change', () => {
  const changes = ({ words }: ControlRequest): boolean => words.includes('change');
  const user = process.geteuid?.() ?? 0;

  it('of a process of another PID namespace is refused, a look is not', async () => {
    const place = createAbstractPlace('role-of-this-test');
    const { place: path = '' } = await start(place, { changes, findPeer: () => ({ process: 0, user }) });
    expect(await ask(path, 'echo', 'look')).toEqual(['look']);
    await expect(ask(path, 'echo', 'change')).rejects.toThrow('not from another PID namespace: echo');
  });

  it('of a process of the same one is made', async () => {
    const { place = '' } = await start(createAbstractPlace('role-of-this-test'), { changes });
    expect(await ask(place, 'echo', 'change')).toEqual(['change']);
  });

  it('is made over a file, whoever may open it', async () => {
    const path = await makePath();
    await start(fileAt(path), { changes, findPeer: () => ({ process: 0, user: 0 }) });
    expect(await ask(path, 'echo', 'change')).toEqual(['change']);
  });
});

describe('a file', () => {
  it('is for the user of the server alone', async () => {
    const path = await makePath();
    await start(fileAt(path));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('takes the place of a socket without a listener, and of no other', async () => {
    const path = await makePath();
    const first = await start(fileAt(path));
    await expect(start(fileAt(path))).rejects.toThrow(ControlSocketError);
    await first.stop();
    writeFileSync(path, '');
    await expect(start(fileAt(path))).resolves.toBeDefined();
    await expect(start(fileAt('/nonexistent/control'))).rejects.toThrow('--control-socket');
  });

  it('that is the default gives way to an abstract name', async () => {
    const path = await makePath();
    await start(fileAt(path));
    const second = await start({ kind: 'file', path, isDefault: true });
    expect(second.place).toMatch(/^@portolan\/control\/1\/\d+\/test\/\d+$/);
    expect(await ask(second.place ?? '', 'echo', 'y')).toEqual(['y']);
  });
});

describe('the place of a server', () => {
  it('is the flag, the folder, or an abstract name, which clients of the container find', async () => {
    const { path: folder } = await makeTemporaryFolder();
    expect(placeOfServer('none', 'serve')).toEqual({ kind: 'none' });
    expect(placeOfServer('/a', 'serve')).toEqual({ kind: 'file', path: '/a', isDefault: false });
    const inFolder = placeOfServer(undefined, 'serve', { folder });
    expect(inFolder).toEqual({ kind: 'file', path: join(folder, 'serve.sock'), isDefault: true });
    await start(inFolder);
    expect(placesToAsk(undefined, { folder })).toContainEqual(inFolder);
    const named = placeOfServer(undefined, 'role-of-this-test', { folder: '/nonexistent' });
    expect(named).toEqual(createAbstractPlace('role-of-this-test'));
    await start(named);
    expect(placesToAsk(undefined, { folder: '/nonexistent' })).toContainEqual(named);
  });

  it('that nobody listens on is said', async () => {
    await expect(ask('@portolan/control/1/0/nobody/1', 'echo')).rejects.toThrow(NoServerError);
  });
});

it('is not held by a client that sends no end', async () => {
  const path = await makePath();
  await start(fileAt(path));
  const socket = connect(path);
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.write('x'.repeat(17 * 2 ** 20));
  await closed;
});
