/**
 * Hosts files that change while they are in use: all changes become visible, no name is lost, and invalid lines are
 * reported.
 */
import { appendFile, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { describe, expect, it } from 'vitest';
import { itWithTool } from '../support/tools.ts';
import { runBoth, runOurs, tell } from './both-programs.ts';
import { changeUnderLoad, OPTIONS, untilAnswered } from './changing-hosts-file.ts';

describe('a changed file', () => {
  it('is seen, ten times under load, and no query is lost', async () => {
    await changeUnderLoad(10);
  });

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
    await untilAnswered(file.server, 'web', '10.0.0.2');
    await untilAnswered(folder.server, 'more', '10.0.0.4');
  });

  it('may come late, and go', async () => {
    const folder = await makeTemporaryFolder();
    const file = join(folder.path, 'later', 'hosts');
    const { server, program } = await runOurs([...OPTIONS, `--addn-hosts=${file}`]);
    expect(program.errors).toContain('hosts file missing');
    expect(await askShort(server, 'late', 'A')).toBe('NXDOMAIN');
    await folder.write('later/hosts', '10.0.0.9 late\n');
    await untilAnswered(server, 'late', '10.0.0.9');
    await rm(file);
    await untilAnswered(server, 'late', 'NXDOMAIN');
  });

  it('is served but for its bad lines, which are said with their place', async () => {
    const folder = await makeTemporaryFolder();
    const file = await folder.write('hosts', '10.0.0.1 good\nnonsense bad\n10.0.0.2 fine b\u0001ad\n');
    const { server, program } = await runOurs([...OPTIONS, `--addn-hosts=${file}`]);
    expect(program.errors).toMatch(new RegExp(`invalid line in hosts file.* file="?${file}"? line=2`));
    expect(program.errors).toMatch(new RegExp(`invalid line in hosts file.* file="?${file}"? line=3`));
    expect(await askShort(server, 'good', 'A')).toBe('10.0.0.1');
    expect(await askShort(server, 'fine', 'A')).toBe('10.0.0.2');
    await appendFile(file, '10.0.0.3\n10.0.0.4 last\n');
    await untilAnswered(server, 'last', '10.0.0.4');
    expect(await askShort(server, 'good', 'A')).toBe('10.0.0.1');
  });

  it('is a difference: a name that stays is not even touched', async () => {
    const folder = await makeTemporaryFolder();
    const file = await folder.write('hosts', '10.0.0.1 one\n10.0.0.2 two\n');
    const { server, program } = await runOurs([...OPTIONS, `--addn-hosts=${file}`]);
    await writeFile(file, '10.0.0.1 one\n10.0.0.3 two\n');
    await untilAnswered(server, 'two', '10.0.0.3');
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
        await untilAnswered(both.real, name, answer);
        await untilAnswered(both.ours, name, answer);
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
  it('is served, and followed', async () => {
    const folder = await makeTemporaryFolder();
    const lines = Array.from(
      { length: 100_000 },
      (_, index) => `0.0.0.0 ads-${index}.tracker-${index % 997}.example`,
    );
    const file = await folder.write('blocked', `${lines.join('\n')}\n`);
    const { server } = await runOurs([...OPTIONS, `--addn-hosts=${file}`]);
    expect(await askShort(server, 'ads-99999.tracker-299.example', 'A')).toBe('0.0.0.0');
    await appendFile(file, '0.0.0.0 one-more.example\n');
    await untilAnswered(server, 'one-more.example', '0.0.0.0');
  });
});
