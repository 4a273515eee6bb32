import { ProgramError, type RunProgram } from '@portolan/kernel/base/run-program.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { describe, expect, it } from 'vitest';
import { NodeInterface } from './node-interface.ts';

interface Link {
  isUp: boolean;
  readonly addresses: Map<string, string>;
}

/** The program `ip` on a simulated machine. */
class Machine {
  readonly links = new Map<string, Link>([['lo', { isUp: true, addresses: new Map() }]]);
  readonly #hasDummies: boolean;

  constructor(hasDummies: boolean) {
    this.#hasDummies = hasDummies;
  }

  readonly run: RunProgram = async ({ words }) => {
    const [object, command, name = ''] = words.filter((word) => word !== '-o');
    if (object === 'link' && command === 'show') return this.#showLinks();
    if (object === 'link' && command === 'add') return this.#add(name);
    if (object === 'link' && command === 'set') this.#link(name).isUp = true;
    if (object === 'link' && command === 'del') this.links.delete(name);
    if (object !== 'addr') return '';
    const device = words[words.indexOf('dev') + 1] ?? '';
    const { addresses } = this.#link(device);
    if (command === 'show')
      return [...addresses]
        .map(([ip, label]) => `1: ${device}    inet ${ip}/32 scope global ${label}\\  x\n`)
        .join('');
    const address = name.replace(/\/.*/, '');
    if (command === 'del') addresses.delete(address);
    else addresses.set(address, words.includes('label') ? (words.at(-1) ?? '') : device);
    return '';
  };

  #showLinks(): string {
    const lines = [...this.links].map(
      ([name, { isUp }], at) => `${at}: ${name}: <BROADCAST${isUp ? ',UP' : ''}> mtu 1500`,
    );
    return lines.join('\n');
  }

  #add(name: string): string {
    const noise = 'Warning: one\nWarning: two\nWarning: three\n';
    if (!this.#hasDummies)
      throw new ProgramError(`ip link add: three`, `Error: Unknown device type.\n${noise}`);
    this.links.set(name, { isUp: false, addresses: new Map() });
    return '';
  }

  #link(name: string): Link {
    const link = this.links.get(name);
    if (link === undefined) throw new ProgramError(`Device "${name}" does not exist.`);
    return link;
  }

  listAddresses(name: string): readonly string[] {
    return [...(this.links.get(name)?.addresses.keys() ?? [])];
  }
}

const ADDRESSES = ['169.254.20.10', '10.96.0.10'];

function setUp(machine: Machine) {
  const log = new RecordingLog();
  return { log, network: new NodeInterface('nodelocaldns', ADDRESSES, machine.run, log) };
}

describe('the interface of a node', () => {
  it('is made, repaired and removed', async () => {
    const machine = new Machine(true);
    const { network } = setUp(machine);
    expect(await network.set()).toBe(true);
    expect(machine.listAddresses('nodelocaldns')).toEqual(ADDRESSES);
    expect(await network.set()).toBe(false);
    machine.links.get('nodelocaldns')?.addresses.delete('10.96.0.10');
    expect(await network.set()).toBe(true);
    machine.links.delete('nodelocaldns');
    expect(await network.set()).toBe(true);
    expect(machine.listAddresses('nodelocaldns')).toEqual(ADDRESSES);
    expect(machine.links.get('nodelocaldns')?.isUp).toBe(true);
    await network.remove();
    expect([...machine.links.keys()]).toEqual(['lo']);
  });

  it('that the original left is set up and used', async () => {
    const machine = new Machine(true);
    const addresses = new Map([['169.254.20.10', 'nodelocaldns']]);
    machine.links.set('nodelocaldns', { isUp: false, addresses });
    await setUp(machine).network.set();
    expect(machine.links.get('nodelocaldns')?.isUp).toBe(true);
    expect(machine.listAddresses('nodelocaldns')).toEqual(ADDRESSES);
  });
});

describe('a kernel without the type dummy', () => {
  it('has the addresses on the loopback interface, with a warning', async () => {
    const machine = new Machine(false);
    machine.links.get('lo')?.addresses.set('127.0.0.1', 'lo');
    const { network, log } = setUp(machine);
    await network.set();
    expect(machine.listAddresses('lo')).toEqual(['127.0.0.1', ...ADDRESSES]);
    expect(log.records.map(({ level }) => level)).toEqual(['warn']);
    await network.remove();
    expect(machine.listAddresses('lo')).toEqual(['127.0.0.1']);
  });

  it('loses those of the process before, too, but none that was there before', async () => {
    const machine = new Machine(false);
    machine.links.get('lo')?.addresses.set('10.96.0.10', 'lo');
    await setUp(machine).network.set();
    const next = setUp(machine).network;
    expect(await next.set()).toBe(false);
    await next.remove();
    expect(machine.listAddresses('lo')).toEqual(['10.96.0.10']);
  });
});
