/**
 * A snapshot that outgrows its disk: the last good one stays usable for a start, an error has the reason, and answers are not
 * affected.
 */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { generateCluster } from '../api-server/generate.ts';
import { namespace, service } from '../list-watch/harness.ts';
import { endAllPrograms, look, type Serving, servePortolan } from '../support/portolan.ts';
import { describeWhere, hasTool } from '../support/tools.ts';
import { type Disk, mayMount, mountSmallDisk } from './private-mounts.ts';

afterEach(endAllPrograms);

const ROOM = 64 * 1024;
const SMALL = [namespace('default'), service('web', '10.96.0.10')];
const LARGE = [...SMALL, ...generateCluster({ services: 2_000, endpointsPerService: 2 })];

const ways = [
  {
    way: 'on a full disk',
    need: 'unshare -m',
    isPossible: mayMount,
    reason: /ENOSPC/,
    open: (folder: string) => mountSmallDisk(folder, ROOM),
  },
  {
    way: 'that may not grow',
    need: 'prlimit',
    isPossible: hasTool('prlimit'),
    reason: /EFBIG/,
    open: async (): Promise<Disk> => ({
      through: ['prlimit', `--fsize=${ROOM}`],
      locate: (path) => path,
    }),
  },
];

for (const { way, need, isPossible, reason, open } of ways)
  describeWhere(isPossible, need, `a snapshot ${way}`, () => {
    it('leaves the last good one in its place', async () => {
      const double = await ApiServerDouble.start({ objects: SMALL });
      onTestFinished(() => double.stop());
      const folder = join((await makeTemporaryFolder()).path, 'disk');
      await mkdir(folder);
      const file = join(folder, 'snapshot');
      const { through, locate } = await open(folder);
      const serve = () => {
        const flags = ['--kube-master-url', double.url, '--snapshot', file, '--lameduck=0s'];
        return servePortolan(flags, { through });
      };
      const stop = async ({ program }: Serving) => {
        program.signal('SIGTERM');
        expect(await program.exit).toEqual({ code: 0, signal: null });
      };

      const first = await serve();
      await first.program.heard('cluster listed');
      await stop(first);
      const good = await readFile(locate(file));
      expect(good.includes('web')).toBe(true);

      await double.restart(LARGE, 5000);
      const second = await serve();
      await second.program.heard('cluster listed');
      await stop(second);
      const complaint = await second.program.heard('snapshot not written');
      expect(complaint).toMatchObject({ level: 'error', reason: expect.stringMatching(reason) });
      expect(good.equals(await readFile(locate(file)))).toBe(true);
      expect(await readdir(locate(folder))).toEqual(['snapshot']);

      await double.stop();
      const third = await serve();
      expect(await askShort(third, 'web.default.svc.cluster.local', 'A')).toBe('10.96.0.10');
      await double.restart(LARGE, 5000);
      await third.program.heard('cluster listed', 20_000);
      expect(await askShort(third, 'svc-399.ns-9.svc.cluster.local', 'A')).toBe('10.96.1.144');
      expect(await look(third, '/readyz')).toEqual({ status: 200, text: 'ok\n' });
    });
  });
