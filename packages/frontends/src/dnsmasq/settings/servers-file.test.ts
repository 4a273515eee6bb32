import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { expect, it } from 'vitest';
import { readServersFile } from './servers-file.ts';

const FILE = '/etc/servers';

it('reads server and rev-server', () => {
  const { routes, problems } = readServersFile(
    Buffer.from('# ours\nserver=/a/10.0.0.1\nrev-server=10.0.0.0/8,10.0.0.1\n'),
    FILE,
  );
  expect(problems).toEqual([]);
  expect(routes.map(({ scope }) => scope)).toEqual([
    { kind: 'domain', name: 'a.' },
    { kind: 'domain', name: '10.in-addr.arpa.' },
  ]);
});

it('reports other options and wrong lines, and reads the rest', () => {
  const text = 'local=/a/\nport=53\nserver=x y\nsrever=1\nserver=10.0.0.1\nserver=/a..b/10.0.0.1';
  const { routes, problems, notes } = readServersFile(Buffer.from(text), FILE);
  expect(problems.map(describeProblem)).toEqual([
    '/etc/servers:1: not allowed in such a file: "local". Give server or rev-server.',
    '/etc/servers:2: not allowed in such a file: "port". Give server or rev-server.',
    expect.stringMatching(
      /^\/etc\/servers:3: server: neither an IP address nor the name of a host: "x y"\. /,
    ),
    '/etc/servers:4: unknown option: "srever". Did you mean server?',
  ]);
  expect(routes).toHaveLength(1);
  expect(notes).toEqual([{ where: '/etc/servers:6: server', text: expect.stringContaining('"a..b"') }]);
});
