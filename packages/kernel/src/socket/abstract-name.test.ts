import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { abstractPath, showAbstractName } from './abstract-name.ts';

it('is shown as people write it in the message of an error', async () => {
  const { message } = await new Promise<Error>((resolve) =>
    connect(abstractPath('portolan/nobody')).once('error', resolve),
  );
  expect(showAbstractName(message)).toBe('connect ECONNREFUSED @portolan/nobody');
});

it('leaves other messages as they are', () => {
  expect(showAbstractName('connect ENOENT /run/portolan/serve.sock')).toBe(
    'connect ENOENT /run/portolan/serve.sock',
  );
});
