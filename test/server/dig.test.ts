/**
 * The first result of a new user: runs the dig command that `npm start` prints.
 */
import { execFile } from 'node:child_process';
import { hostname } from 'node:os';
import { promisify } from 'node:util';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { answerFromZone, makeAddress } from '@portolan/testing/upstream/reactions.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { endAllPrograms, type Serving, servePortolan } from '../support/portolan.ts';
import { describeWithTool } from '../support/tools.ts';

const run = promisify(execFile);

describeWithTool('dig', 'dig', () => {
  let serving: Serving;
  let stopUpstream: () => Promise<void> | void;
  const dig = async (...args: readonly string[]): Promise<string> => {
    const server = [`@${serving.address}`, '-p', String(serving.port)];
    return (await run('dig', ['+time=5', '+tries=1', ...server, ...args])).stdout;
  };

  beforeAll(async () => {
    const upstream = await LoopbackUpstream.start(
      answerFromZone({ 'www.example. A': [makeAddress('192.0.2.1')] }),
    );
    stopUpstream = () => upstream.stop();
    const flags = [`--upstream=${upstream.address}`, '--nsid=edge 7', '--hide-version'];
    serving = await servePortolan(['--example', ...flags]);
    await serving.program.heard('cluster listed');
  });
  afterAll(async () => {
    await endAllPrograms();
    await stopUpstream();
  });

  it.each([[], ['+tcp']])('gets the address of a service %s', async (...flags) => {
    expect(await dig('+short', ...flags, 'cart.shop.svc.cluster.local')).toBe('10.96.20.10\n');
  });

  it('finds every answer well-formed', async () => {
    for (const [name, type] of [
      ['_sql._tcp.postgres.data.svc.cluster.local', 'SRV'],
      ['cluster.local', 'SOA'],
      ['cluster.local', 'NS'],
      ['dns-version.cluster.local', 'TXT'],
      ['cart.shop.svc.cluster.local', 'ANY'],
      ['20.1.244.10.in-addr.arpa', 'PTR'],
    ] as const) {
      const output = await dig('+qr', name, type);
      expect(output, `${name} ${type}`).toMatch(/status: NOERROR/);
      expect(output, `${name} ${type}`).toMatch(/flags: qr aa rd ra;.* ANSWER: [1-9]/);
      expect(output, `${name} ${type}`).not.toMatch(/malformed|extra input|bad/i);
    }
  });

  it('is told no with the SOA of the zone', async () => {
    const output = await dig('nobody.shop.svc.cluster.local');
    expect(output).toMatch(/status: NXDOMAIN/);
    expect(output).toMatch(/^cluster\.local\.\s+\d+\s+IN\s+SOA\s+ns\.dns\.cluster\.local\./m);
  });

  it('sees who answers if it asks, for names of any kind, and not which release', async () => {
    for (const name of ['cart.shop.svc.cluster.local', 'www.example', 'www.example', 'nobody.example']) {
      expect(await dig('+nsid', name), name).toMatch(/; NSID: .*\("edge 7"\)/);
      expect(await dig(name), name).not.toContain('NSID');
    }
    expect(await dig('+short', 'CH', 'TXT', 'hostname.bind')).toBe(`"${hostname()}"\n`);
    expect(await dig('CH', 'TXT', 'version.bind')).toContain('status: REFUSED');
  });

  it('keeps the capitals that it asked with', async () => {
    expect(await dig('+noall', '+question', 'CaRt.sHoP.svc.cluster.local')).toContain(
      'CaRt.sHoP.svc.cluster.local.',
    );
  });
});
