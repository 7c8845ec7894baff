// A WebSocket (RFC 6455), the client's side, over a connection that was upgraded. Node 18 and 20 have none of their own.
import { createHash, randomBytes } from 'node:crypto';
import { VivariumError } from './errors.js';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10;
const MAX_FRAME = 64 << 20;

/**
 * @typedef {object} WebSocketUser
 * @property {(text: string) => void} text
 * @property {(data: Buffer) => void} binary
 * @property {(code: number, reason: string) => void} closed once; 1006: without a close frame
 */

/**
 * Opens one.
 * @param {import('./http.js').Transport} transport
 * @param {string} at
 * @param {string} protocol
 * @param {AbortSignal} [signal]
 * @returns {Promise<WebSocketConnection>}
 */
export async function webSocketOpen(transport, at, protocol, signal) {
	const key = randomBytes(16).toString('base64');
	const { answer, socket, head } = await transport.upgrade(at, {
		connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': key, 'sec-websocket-protocol': protocol,
	}, signal);
	const want = createHash('sha1').update(key + GUID).digest('base64');
	if (answer.headers['sec-websocket-accept'] !== want || answer.headers['sec-websocket-protocol'] !== protocol) {
		socket.destroy();
		throw new VivariumError({ code: 'protocol', message: 'what answers is no WebSocket of vivd' });
	}
	return new WebSocketConnection(socket, head);
}

export class WebSocketConnection {
	/** @type {Buffer[]} what is not looked at yet */
	#parts = [];
	#size = 0;
	/** @type {Buffer[]} of a message in fragments */
	#fragments = [];
	#opcode = 0;
	#over = false;
	#closeSent = false;
	/** @type {WebSocketUser | undefined} */
	#user;
	#head;

	/**
	 * @param {import('node:net').Socket} socket
	 * @param {Buffer} head
	 */
	constructor(socket, head) {
		this.socket = socket;
		this.#head = head;
		socket.setNoDelay(true);
		socket.setTimeout(0);
	}

	/** @param {WebSocketUser} user */
	start(user) {
		this.#user = user;
		this.socket.on('data', (part) => this.#take(part));
		this.socket.on('error', () => this.#end(1006, ''));
		this.socket.on('close', () => this.#end(1006, ''));
		if (this.#head.length)
			this.#take(this.#head);
	}

	/** @param {unknown} o */
	sendObject(o) {
		this.#send(TEXT, Buffer.from(JSON.stringify(o)));
	}

	/**
	 * A byte for the channel, and the data; done is called when it has left.
	 * @param {number} channel
	 * @param {Uint8Array} data
	 * @param {(e?: Error | null) => void} done
	 */
	sendBytes(channel, data, done) {
		const whole = Buffer.allocUnsafe(data.length + 1);
		whole[0] = channel;
		whole.set(data, 1);
		this.#send(BINARY, whole, done);
	}

	/** @param {number} code */
	close(code) {
		if (this.#closeSent || this.#over)
			return;
		this.#closeSent = true;
		const data = Buffer.alloc(2);
		data.writeUInt16BE(code);
		this.#send(CLOSE, data);
		this.socket.end();
	}

	destroy() {
		this.socket.destroy();
		this.#end(1006, '');
	}

	/**
	 * Masks data in place.
	 * @param {number} opcode
	 * @param {Buffer} data
	 * @param {(e?: Error | null) => void} [done]
	 */
	#send(opcode, data, done) {
		const n = data.length;
		const extra = n < 126 ? 0 : n < 65536 ? 2 : 8;
		const head = Buffer.allocUnsafe(6 + extra);
		const mask = randomBytes(4);
		head[0] = 0x80 | opcode;
		head[1] = 0x80 | (extra === 0 ? n : extra === 2 ? 126 : 127);
		if (extra === 2)
			head.writeUInt16BE(n, 2);
		else if (extra === 8)
			head.writeBigUInt64BE(BigInt(n), 2);
		mask.copy(head, 2 + extra);
		const [a, b, c, d] = /** @type {[number, number, number, number]} */ ([...mask]);
		const even = n & ~3;
		for (let i = 0; i < even; i += 4) {
			data[i] = /** @type {number} */ (data[i]) ^ a;
			data[i + 1] = /** @type {number} */ (data[i + 1]) ^ b;
			data[i + 2] = /** @type {number} */ (data[i + 2]) ^ c;
			data[i + 3] = /** @type {number} */ (data[i + 3]) ^ d;
		}
		for (let i = even; i < n; i++)
			data[i] = /** @type {number} */ (data[i]) ^ /** @type {number} */ (mask[i & 3]);
		if (this.socket.destroyed || this.socket.writableEnded) {
			done?.(new VivariumError({ code: 'connection_lost', message: 'the connection to vivd is closed' }));
			return;
		}
		this.socket.cork();
		this.socket.write(head);
		this.socket.write(data, (e) => done?.(e));
		this.socket.uncork();
	}

	/** @param {Buffer} part */
	#take(part) {
		this.#parts.push(part);
		this.#size += part.length;
		while (!this.#over && this.#frame())
			;
	}

	/**
	 * The first n bytes, which are there; they stay.
	 * @param {number} n
	 */
	#peek(n) {
		let first = /** @type {Buffer} */ (this.#parts[0]);
		if (first.length < n) {
			first = Buffer.concat(this.#parts);
			this.#parts = [first];
		}
		return first;
	}

	/**
	 * Looks at the next frame; false: it is not whole yet.
	 * @returns {boolean}
	 */
	#frame() {
		if (this.#size < 2)
			return false;
		let b = this.#peek(2);
		const first = b.readUInt8(0), second = b.readUInt8(1);
		const extra = (second & 0x7f) === 126 ? 2 : (second & 0x7f) === 127 ? 8 : 0;
		if (this.#size < 2 + extra)
			return false;
		b = this.#peek(2 + extra);
		const n = extra === 2 ? b.readUInt16BE(2) : extra === 8 ? Number(b.readBigUInt64BE(2)) : second & 0x7f;
		if (first & 0x70 || second & 0x80 || n > MAX_FRAME || ((first & 8) && (n > 125 || !(first & 0x80)))) {
			this.socket.destroy();
			this.#end(1002, 'not a frame that a server may send');
			return false;
		}
		if (this.#size < 2 + extra + n)
			return false;
		const whole = this.#parts.length === 1 ? /** @type {Buffer} */ (this.#parts[0]) : Buffer.concat(this.#parts);
		const data = whole.subarray(2 + extra, 2 + extra + n);
		const rest = whole.subarray(2 + extra + n);
		this.#parts = rest.length ? [rest] : [];
		this.#size = rest.length;
		this.#frameDo(first & 15, (first & 0x80) !== 0, data);
		return true;
	}

	/**
	 * @param {number} opcode
	 * @param {boolean} last
	 * @param {Buffer} data
	 */
	#frameDo(opcode, last, data) {
		if (opcode === PING) {
			this.#send(PONG, Buffer.from(data));
		} else if (opcode === CLOSE) {
			const code = data.length >= 2 ? data.readUInt16BE(0) : 1005;
			this.close(code === 1005 ? 1000 : code);
			this.#end(code, data.toString('utf8', 2));
		} else if (opcode === PONG) {
			return;
		} else if (last && opcode !== 0) {
			this.#message(opcode, data);
		} else {
			if (opcode !== 0)
				this.#opcode = opcode;
			this.#fragments.push(data);
			if (last) {
				const whole = Buffer.concat(this.#fragments);
				this.#fragments = [];
				this.#message(this.#opcode, whole);
			}
		}
	}

	/**
	 * @param {number} opcode
	 * @param {Buffer} data
	 */
	#message(opcode, data) {
		if (opcode === TEXT)
			this.#user?.text(data.toString('utf8'));
		else
			this.#user?.binary(data);
	}

	/**
	 * @param {number} code
	 * @param {string} reason
	 */
	#end(code, reason) {
		if (this.#over)
			return;
		this.#over = true;
		this.#user?.closed(code, reason);
	}
}
