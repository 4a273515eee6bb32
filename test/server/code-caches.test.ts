/**
 * The built program and the code caches of its build: used by the same Node.js, and without effect for any other.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { endAllPrograms, look, runPortolan, servePortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

/** Another flag of V8 than those of the build, which all releases of Node.js take into account. */
const OTHER_FLAGS = { NODE_OPTIONS: '--stack-trace-limit=33' };

async function startExample(environment: Readonly<Record<string, string>>) {
  const serving = await servePortolan(['--example', '--lameduck=0s'], { environment });
  const { text } = await look(serving, '/metrics');
  const counts = [...text.matchAll(/^portolan_code_caches\{state="(\w+)"\} (\d+)$/gm)];
  const news = serving.program.log.filter(({ message }) => message.startsWith('code cache not used'));
  const deaths = serving.program.log.filter(({ message }) => message.startsWith('reader thread died'));
  return { counts: Object.fromEntries(counts.map(([, state, count]) => [state, count])), news, deaths };
}

describe('code caches', () => {
  it('are used by the Node.js of the build', async () => {
    const { counts, news, deaths } = await startExample({});
    expect(counts).toEqual({ used: '1', rejected: '0', absent: '0' });
    expect([news, deaths]).toEqual([[], []]);
  });

  it('are left out with other flags, which is counted and logged once', async () => {
    const { counts, news, deaths } = await startExample(OTHER_FLAGS);
    expect(counts).toEqual({ used: '0', rejected: '1', absent: '0' });
    expect(news).toMatchObject([{ level: 'info', bundle: 'server', node: process.version }]);
    expect(deaths).toEqual([]);
  });

  it.each(['kube-dns', 'coredns', 'node-cache', 'dnsmasq', 'dnsmasq-nanny', 'skydns'])(
    'do not change what %s says about itself',
    async (command) => {
      const version = command === 'coredns' || command === 'node-cache' ? '-version' : '--version';
      const texts = await Promise.all(
        [{}, OTHER_FLAGS].map(async (environment) => {
          const program = runPortolan([command, version], { environment });
          const { code } = await program.exit;
          return `${code}\n${program.output}${program.errors}`;
        }),
      );
      expect(texts[1]).toBe(texts[0]);
    },
  );
});
