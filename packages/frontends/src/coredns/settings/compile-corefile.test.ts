import { availableParallelism } from 'node:os';
import { expect, it } from 'vitest';
import { compilePlan, compileText } from './testing/compile-plan.ts';

it('takes what belongs to the sockets from the first block of an address and port', () => {
  const serverBlocks = compilePlan(
    '. {\n timeouts {\n read 2s\n write 4s\n }\n multisocket 1000\n whoami\n}\n' +
      'a.test {\n timeouts {\n idle 9s\n }\n multisocket 1\n whoami\n}\n.:54 {\n whoami\n}\n',
  );
  expect(serverBlocks.groups).toMatchObject([
    { port: 53, readers: availableParallelism(), tcp: { read: 2000, write: 4000, idle: undefined } },
    { port: 54, readers: 1, tcp: { read: undefined, write: undefined, idle: undefined } },
  ]);
});

it('knows the certificate of metrics that are meant for TLS', () => {
  const { endpoints } = compileText(
    '. {\n prometheus :9153 {\n tls web.yaml\n }\n whoami\n}\na.test {\n prometheus :9154\n whoami\n}\n',
  );
  expect(endpoints).toMatchObject([
    { kind: 'metrics', address: ':9153', webConfiguration: 'web.yaml' },
    { kind: 'metrics', address: ':9154' },
  ]);
});
