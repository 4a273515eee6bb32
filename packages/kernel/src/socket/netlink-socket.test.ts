import { describe, expect, it } from 'vitest';
import { EOPNOTSUPP } from './linux.ts';
import {
  encodeNetlinkMessage,
  NLM_F_REQUEST,
  NLMSG_ERROR,
  parseAttributes,
  readNetlinkError,
} from './netlink-message.ts';
import { NetlinkSocket } from './netlink-socket.ts';

const NETLINK_ROUTE = 0;
const RTM_NEWLINK = 16;
const RTM_GETLINK = 18;
const IFINFO_OCTETS = 16;
const IFLA_IFNAME = 3;

/** Asks for the first interface, which is `lo` in each network namespace. */
const encodeGetLink = (type: number, sequence: number) => {
  const body = new Uint8Array(IFINFO_OCTETS);
  new DataView(body.buffer).setInt32(4, 1, true);
  return encodeNetlinkMessage({ type, flags: NLM_F_REQUEST, sequence, body });
};

describe('a netlink socket', () => {
  it('has the answer of the kernel to each request', async () => {
    const socket = new NetlinkSocket(NETLINK_ROUTE);
    for (const sequence of [7, 8]) {
      const [message, ...others] = await socket.exchange(encodeGetLink(RTM_GETLINK, sequence));
      expect(message).toMatchObject({ type: RTM_NEWLINK, sequence });
      expect(others).toEqual([]);
      const name = parseAttributes(message?.body.subarray(IFINFO_OCTETS) ?? new Uint8Array()).get(
        IFLA_IFNAME,
      );
      expect(Buffer.from(name ?? []).toString()).toBe('lo\0');
    }
    await socket.close();
  });

  it('has the error of a request', async () => {
    const socket = new NetlinkSocket(NETLINK_ROUTE);
    const [message] = await socket.exchange(encodeGetLink(0x0fff, 9));
    expect(message).toMatchObject({ type: NLMSG_ERROR, sequence: 9 });
    expect(message && readNetlinkError(message)).toBe(EOPNOTSUPP);
    await socket.close();
  });

  it('says what the kernel lacks', () => {
    expect(() => new NetlinkSocket(31)).toThrow('cannot open a netlink socket: EPROTONOSUPPORT');
  });

  it('closes once the request on its way has its answer', async () => {
    const socket = new NetlinkSocket(NETLINK_ROUTE);
    const asked = socket.exchange(encodeGetLink(RTM_GETLINK, 1));
    await socket.close();
    expect(await asked).toHaveLength(1);
    await expect(socket.exchange(encodeGetLink(RTM_GETLINK, 2))).rejects.toThrow('is closed');
  });
});
