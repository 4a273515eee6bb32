/**
 * Hosts files that change while they are served: everything new is seen within a second, nothing is lost, and what is wrong
 * with a line is said.
 */
import { appendFile, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { askShort, type Server } from '../support/ask.ts';
import { bundleThread } from '../support/bundle-thread.ts';
import { BurstLoad } from '../support/burst-load.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';
import { itWithTool } from '../support/tools.ts';
import { waitUntil } from '../support/wait-until.ts';
import { runBoth, runOurs, tell } from './both-programs.ts';

const OPTIONS = ['--conf-file=/dev/null', '--no-hosts', '--local=/#/'];
const SECOND = 1000;

let loadEntry: URL;
beforeAll(async () => {
  loadEntry = await bundleThread('test/support/burst-load-thread.ts');
});

/** Milliseconds until an answer is what it should be. */
async function timeUntil(server: Server, name: string, answer: string, deadline = 10_000): Promise<number> {
  const began = performance.now();
  for (;;) {
    const now = await askShort(server, name, 'A');
    const passed = performance.now() - began;
    if (now === answer) return passed;
    if (passed > deadline) throw new Error(`still not ${answer} but ${now}: ${name}`);
  }
}

describe('a changed file', () => {
  it('is seen within a second, a hundred times under load, and no question is lost', async () => {
    const folder = await makeTemporaryFolder();
    const fixed = '10.0.0.1 fixed\n10.0.0.2 other.example\n';
    const file = await folder.write('hosts', fixed);
    const { server } = await runOurs([...OPTIONS, `--addn-hosts=${file}`]);
    const load = new BurstLoad(loadEntry, {
      ...{ ...server, sockets: 8, burst: 4, every: 5 },
      questions: [
        { name: 'fixed', answer: '10.0.0.1' },
        { name: 'Other.Example', answer: '10.0.0.2' },
        { name: 'nothing.example', answer: 'NXDOMAIN' },
      ],
    });
    await waitUntil('the load', () => load.answered > 100);
    let slowest = 0;
    for (let change = 1; change <= 100; change += 1) {
      const address = `10.1.${change >> 8}.${change & 255}`;
      const content = `${fixed}${address} changing new-${change}\n`;
      if (change % 2 === 0) await writeFile(file, content);
      else {
        await writeFile(`${file}.new`, content);
        await rename(`${file}.new`, file);
      }
      slowest = Math.max(slowest, await timeUntil(server, `new-${change}`, address));
      expect(await askShort(server, 'changing', 'A')).toBe(address);
    }
    await load.stop();
    console.log(
      `100 changes: ${load.asked} questions, ${load.lost} lost, slowest seen after ${slowest | 0} ms`,
    );
    expect(load).toMatchObject({ lost: 0, wrong: 0, refused: 0, answered: load.asked });
    expect(slowest).toBeLessThan(SECOND);
    expect(await askShort(server, 'new-99', 'A')).toBe('NXDOMAIN');
  }, 120_000);

  it('may be one of a ConfigMap volume, where all files are swapped at once', async () => {
    const { path } = await makeTemporaryFolder();
    const swap = async (version: string, files: Readonly<Record<string, string>>) => {
      await mkdir(join(path, `..${version}`));
      for (const [name, content] of Object.entries(files))
        await writeFile(join(path, `..${version}`, name), content);
      await symlink(`..${version}`, join(path, '..data_tmp'));
      await rename(join(path, '..data_tmp'), join(path, '..data'));
    };
    await swap('one', { hosts: '10.0.0.1 web\n', more: '10.0.0.3 more\n' });
    await symlink('..data/hosts', join(path, 'hosts'));
    await symlink('..data/more', join(path, 'more'));
    const file = await runOurs([...OPTIONS, `--addn-hosts=${join(path, 'hosts')}`]);
    const folder = await runOurs([...OPTIONS, `--hostsdir=${path}`]);
    expect(await askShort(file.server, 'web', 'A')).toBe('10.0.0.1');
    expect(await askShort(folder.server, 'more', 'A')).toBe('10.0.0.3');
    await swap('two', { hosts: '10.0.0.2 web\n', more: '10.0.0.4 more\n' });
    expect(await timeUntil(file.server, 'web', '10.0.0.2')).toBeLessThan(SECOND);
    expect(await timeUntil(folder.server, 'more', '10.0.0.4')).toBeLessThan(SECOND);
  });

  it('may come late, and go', async () => {
    const folder = await makeTemporaryFolder();
    const file = join(folder.path, 'later', 'hosts');
    const { server, program } = await runOurs([...OPTIONS, `--addn-hosts=${file}`]);
    expect(program.errors).toContain('hosts file missing');
    expect(await askShort(server, 'late', 'A')).toBe('NXDOMAIN');
    await folder.write('later/hosts', '10.0.0.9 late\n');
    expect(await timeUntil(server, 'late', '10.0.0.9')).toBeLessThan(2 * SECOND);
    await rm(file);
    expect(await timeUntil(server, 'late', 'NXDOMAIN')).toBeLessThan(SECOND);
  });

  it('is served but for its bad lines, which are said with their place', async () => {
    const folder = await makeTemporaryFolder();
    const file = await folder.write('hosts', '10.0.0.1 good\nnonsense bad\n10.0.0.2 fine b\u0001ad\n');
    const { server, program } = await runOurs([...OPTIONS, `--addn-hosts=${file}`]);
    expect(program.errors).toMatch(new RegExp(`bad line in hosts file.* file="?${file}"? line=2`));
    expect(program.errors).toMatch(new RegExp(`bad line in hosts file.* file="?${file}"? line=3`));
    expect(await askShort(server, 'good', 'A')).toBe('10.0.0.1');
    expect(await askShort(server, 'fine', 'A')).toBe('10.0.0.2');
    await appendFile(file, '10.0.0.3\n10.0.0.4 last\n');
    await timeUntil(server, 'last', '10.0.0.4');
    expect(await askShort(server, 'good', 'A')).toBe('10.0.0.1');
  });

  it('is a difference: a name that stays is not even touched', async () => {
    const folder = await makeTemporaryFolder();
    const file = await folder.write('hosts', '10.0.0.1 one\n10.0.0.2 two\n');
    const { server, program } = await runOurs([...OPTIONS, `--addn-hosts=${file}`]);
    await writeFile(file, '10.0.0.1 one\n10.0.0.3 two\n');
    await timeUntil(server, 'two', '10.0.0.3');
    // `two`, the name of its new address, and that of the old one.
    await waitUntil('the report', () => /hosts files read .*changed=3 /.test(program.errors));
  });
});

describe('a folder of hosts files', () => {
  itWithTool(
    'dnsmasq',
    'is followed like the real one: files that are added, changed and removed',
    async () => {
      const folder = await makeTemporaryFolder();
      await folder.write('first', '10.0.0.1 first\n');
      const both = await runBoth([`--hostsdir=${folder.path}`, '--local=/#/']);
      const agree = async (name: string, answer: string) => {
        await timeUntil(both.real, name, answer);
        expect(await timeUntil(both.ours, name, answer)).toBeLessThan(SECOND);
      };
      await agree('first', '10.0.0.1');
      await folder.write('second', '10.0.0.2 second both\n');
      await agree('second', '10.0.0.2');
      await folder.write('second', '10.0.0.3 second\n');
      await agree('second', '10.0.0.3');
      await agree('both', 'NXDOMAIN');
      await rm(join(folder.path, 'first'));
      await agree('first', 'NXDOMAIN');
      const question = '3.0.0.10.in-addr.arpa PTR';
      expect(await tell(both.ours, question)).toEqual(await tell(both.real, question));
    },
  );
});

describe('a list of a hundred thousand blocked names', () => {
  it('is served within a moment, in little memory', async () => {
    const folder = await makeTemporaryFolder();
    const lines = Array.from(
      { length: 100_000 },
      (_, index) => `0.0.0.0 ads-${index}.tracker-${index % 997}.example`,
    );
    const file = await folder.write('blocked', `${lines.join('\n')}\n`);
    const { server, program } = await runOurs([...OPTIONS, `--addn-hosts=${file}`]);
    expect(await askShort(server, 'ads-99999.tracker-299.example', 'A')).toBe('0.0.0.0');
    const [, milliseconds] = /hosts files read .*milliseconds=(\d+)/.exec(program.errors) ?? [];
    console.log(`100,000 names: ${milliseconds} ms`);
    await appendFile(file, '0.0.0.0 one-more.example\n');
    expect(await timeUntil(server, 'one-more.example', '0.0.0.0')).toBeLessThan(3 * SECOND);
  });
});
