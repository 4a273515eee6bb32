import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConnectionTable, type ConnectionTableLimits, type HeldConnection } from './connection-table.ts';
import type { EndReason } from './served-connection.ts';

const LIMITS: ConnectionTableLimits = {
  connections: 8,
  connectionsPerClient: 4,
  idleMilliseconds: 1000,
  octetsPerConnection: 100,
  octetsPerClient: 250,
  octets: 500,
};

/** A table, and connections that only record the calls they get. */
class Scene {
  readonly table = new ConnectionTable<TestConnection>(LIMITS);
  readonly closed: [name: string, reason: EndReason][] = [];
  #now = 0;

  /** @returns the connection, if there was a place for it */
  open(address: string, name = address, isIdle = true, isFull = false): TestConnection | undefined {
    if (!this.table.makePlace(address, isFull)) return undefined;
    const connection = new TestConnection(this, address, name, isIdle, this.#now++);
    this.table.add(address, connection);
    return connection;
  }
}

class TestConnection implements HeldConnection {
  heldOctets = 0;
  isEnded = false;

  readonly scene: Scene;
  readonly address: string;
  readonly name: string;
  readonly isIdle: boolean;
  readonly lastActive: number;

  constructor(scene: Scene, address: string, name: string, isIdle: boolean, lastActive: number) {
    this.scene = scene;
    this.address = address;
    this.name = name;
    this.isIdle = isIdle;
    this.lastActive = lastActive;
  }

  hold(more: number): void {
    this.heldOctets += more;
    this.scene.table.account(this.address, this, more);
  }

  cut(reason: EndReason): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.scene.closed.push([this.name, reason]);
    this.scene.table.account(this.address, this, -this.heldOctets);
    this.scene.table.remove(this.address, this);
  }

  endIfIdleFor(milliseconds: number): void {
    if (milliseconds < LIMITS.idleMilliseconds) this.cut('idle');
  }
}

describe('places', () => {
  it('of a client that has all it may have are its own longest idle one', () => {
    const scene = new Scene();
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) scene.open('a', name);
    expect(scene.closed).toEqual([['a1', 'evicted']]);
    expect(scene.table.size).toBe(4);
  });

  it('are given up by the client with the most, not by the longest idle of all', () => {
    const scene = new Scene();
    for (const address of ['old', 'a', 'a', 'a', 'b', 'b', 'c', 'd']) scene.open(address);
    expect(scene.open('new')).toBeDefined();
    expect(scene.closed).toEqual([['a', 'evicted']]);
  });

  it('are given up by the longest idle where all have the same', () => {
    const scene = new Scene();
    for (let client = 0; client < 8; client++) scene.open(`client ${client}`);
    expect(scene.open('new')).toBeDefined();
    expect(scene.closed).toEqual([['client 0', 'evicted']]);
  });

  it('are given up by busy ones only where a client has clearly more', () => {
    const scene = new Scene();
    for (let client = 0; client < 8; client++) scene.open(`client ${client}`, undefined, false);
    expect(scene.open('new')).toBeUndefined();
    const other = new Scene();
    for (let client = 0; client < 8; client++) other.open(`client ${client % 4}`, `${client}`, false);
    expect(other.open('new')).toBeDefined();
    expect(other.closed).toEqual([['0', 'evicted']]);
  });

  it('make the idle time shorter as they become few', () => {
    const scene = new Scene();
    const times: number[] = [];
    for (let client = 0; client < 8; client++) {
      scene.open(`client ${client}`);
      times.push(Math.round(scene.table.idleTime));
    }
    expect(times).toEqual([1000, 1000, 1000, 1000, 775, 550, 325, 100]);
    expect(scene.table.isCrowded).toBe(true);
    scene.table.endIdle();
    expect(scene.closed).toHaveLength(8);
  });
});

describe('octets', () => {
  it('beyond what a connection, a client and all may hold close the one with the most', () => {
    const scene = new Scene();
    scene.open('a', 'a1')?.hold(101);
    expect(scene.closed).toEqual([['a1', 'unread']]);
    scene.open('b', 'b1')?.hold(80);
    scene.open('b', 'b2')?.hold(90);
    scene.open('b', 'b3')?.hold(81);
    expect(scene.closed.slice(1)).toEqual([['b2', 'unread']]);
    scene.open('c', 'c1')?.hold(99);
    scene.open('c', 'c2')?.hold(99);
    scene.open('d', 'd1')?.hold(98);
    scene.open('d', 'd2')?.hold(50);
    expect(scene.closed.slice(2)).toEqual([['c1', 'unread']]);
    expect(scene.table.octets).toBe(80 + 81 + 99 + 98 + 50);
  });

  it('never stay above the limits, whatever connections do', () => {
    const step = fc.record({
      client: fc.nat(4),
      connection: fc.nat(5),
      more: fc.integer({ min: -80, max: 80 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const scene = new Scene();
        const open = new Map<string, TestConnection>();
        for (const { client, connection, more } of steps) {
          const key = `${client}-${connection}`;
          const known = open.get(key);
          const one = known?.isEnded === false ? known : scene.open(`${client}`, key);
          if (one === undefined) continue;
          open.set(key, one);
          one.hold(Math.max(-one.heldOctets, more));
          const alive = [...open.values()].filter(({ isEnded }) => !isEnded);
          const held = alive.reduce((sum, { heldOctets }) => sum + heldOctets, 0);
          expect(scene.table.octets).toBe(held);
          expect(held).toBeLessThanOrEqual(LIMITS.octets);
          expect(scene.table.size).toBe(alive.length);
          expect(alive.length).toBeLessThanOrEqual(LIMITS.connections);
          for (const { heldOctets } of alive)
            expect(heldOctets).toBeLessThanOrEqual(LIMITS.octetsPerConnection);
        }
      }),
    );
  });
});

it('closes an idle connection below its limit where descriptors are short, and refuses if all are busy', () => {
  const scene = new Scene();
  scene.open('10.0.0.1', 'idle');
  expect(scene.open('10.0.0.2', 'busy', false, true)).toBeDefined();
  expect(scene.closed).toEqual([['idle', 'evicted']]);
  expect(scene.open('10.0.0.3', 'late', true, true)).toBeUndefined();
});
