/**
 * The first result of a new user: runs the dig command that `npm start` prints.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { endAllPrograms, type Serving, servePortolan } from '../support/portolan.ts';
import { describeWithTool } from '../support/tools.ts';

const run = promisify(execFile);

describeWithTool('dig', 'dig', () => {
  let serving: Serving;
  const dig = async (...args: readonly string[]): Promise<string> => {
    const server = [`@${serving.address}`, '-p', String(serving.port)];
    return (await run('dig', ['+time=5', '+tries=1', ...server, ...args])).stdout;
  };

  beforeAll(async () => {
    serving = await servePortolan(['--example']);
    await serving.program.heard('cluster listed');
  });
  afterAll(endAllPrograms);

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
      expect(output, `${name} ${type}`).toMatch(/flags: qr aa rd;.* ANSWER: [1-9]/);
      expect(output, `${name} ${type}`).not.toMatch(/malformed|extra input|bad/i);
    }
  });

  it('is told no with the SOA of the zone', async () => {
    const output = await dig('nobody.shop.svc.cluster.local');
    expect(output).toMatch(/status: NXDOMAIN/);
    expect(output).toMatch(/^cluster\.local\.\s+\d+\s+IN\s+SOA\s+ns\.dns\.cluster\.local\./m);
  });

  it('keeps the capitals that it asked with', async () => {
    expect(await dig('+noall', '+question', 'CaRt.sHoP.svc.cluster.local')).toContain(
      'CaRt.sHoP.svc.cluster.local.',
    );
  });
});
