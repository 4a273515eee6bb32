/**
 * A seccomp profile or a sandbox that refuses calls for batches of packets: each role answers one packet at a time, and says so.
 */
import { ask, askShort } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { makeAddressRecord, reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, expect } from 'vitest';
import { endAllPrograms } from '../support/portolan.ts';
import { canRun, ROLES, startRole } from '../support/roles.ts';
import { itWithTool } from '../support/tools.ts';

afterEach(endAllPrograms);

/** Lets the kernel refuse calls of a program. The tracer is its child, so that the program is ours. */
const refusing = (call: string, error: string) => [
  'strace',
  '-D',
  '-f',
  '-qq',
  '-o',
  '/dev/null',
  '--seccomp-bpf',
  '-e',
  `trace=${call}`,
  '-e',
  `inject=${call}:error=${error}`,
];

const REFUSALS = [
  ['recvmmsg', 'ENOSYS'],
  ['sendmmsg', 'EPERM'],
] as const;

for (const [call, error] of REFUSALS)
  for (const role of ROLES)
    itWithTool(['strace', ...(canRun(role) ? [] : ['etcd'])], `${role} without ${call}`, async () => {
      const upstream = await LoopbackUpstream.start(({ query, send }) =>
        send(reply(query, { answers: [makeAddressRecord(query, '192.0.2.1')] })),
      );
      const through = refusing(call, error);
      const { program, ...server } = await startRole(role, { upstream: upstream.port }, { through });
      expect(await askShort(server, 'a.test', 'A')).toBe('192.0.2.1');
      expect(await askShort(server, 'b.test', 'A', { transport: 'tcp' })).toBe('192.0.2.1');
      expect((await ask(server, 'version.bind', 'TXT')).header.response).toBe(true);
      expect(program.errors + program.output).toContain(`${call}: ${error}`);
      await upstream.stop();
    });
