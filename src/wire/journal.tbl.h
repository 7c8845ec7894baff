/* What a journal records, one kind after the other: from here come the structs that writers fill,
 * the encoder and the decoder, the JSON form, the page docs/journal-records.md and the words of
 * filters. To add a record is to add rows; kinds and fields are never removed or reordered, since
 * old journals are read for ever: new ones are added at the end of the list, of the kind.
 *
 *   RECORD(ID, NAME, GROUP, MEANING)      begins a kind: enum journal_kind J_ID, struct journal_ID
 *   FIELD(ID, TYPE, name, MEANING)        a field of it
 *   LATER(ID, TYPE, name, MEANING)        the same, of a field that was added after journals had been
 *                                         written: it and all behind it may be missing
 *   END(ID)
 *
 *   TYPE    NUMBER  a whole number, not negative
 *           SIGNED  a whole number
 *           TEXT    bytes, mostly a path: not always UTF-8, at most JOURNAL_TEXT_MAX of them
 *           WORDS   texts one after the other, each ended by a NUL byte, cut at JOURNAL_TEXT_MAX
 *           HASH    a SHA-256, or nothing
 *   GROUP   the word for a filter: cell, exec, file, net, policy, agent, operator
 *
 * Who writes which: kernel (K), gate (G), keeper (P), vivd (D). Paths are those of the cell. */

#ifndef LATER
#define LATER FIELD
#endif

RECORD(START, "start", "cell", "the cell started (P)")
FIELD(START, TEXT, id, "the cell's id")
FIELD(START, TEXT, name, "the cell's name, if it has one")
FIELD(START, TEXT, image, "the image: its name and hash")
FIELD(START, TEXT, level, "what is recorded: all or changes")
FIELD(START, TEXT, version, "the version of Vivarium")
END(START)

RECORD(STOP, "stop", "cell", "the cell ended (P)")
FIELD(STOP, SIGNED, status, "the exit status as viv gives it")
FIELD(STOP, TEXT, reason, "why: ended, asked, timeout, memory, failed")
END(STOP)

RECORD(HOLE, "hole", "cell", "records are missing here (P)")
FIELD(HOLE, TEXT, reason, "why")
FIELD(HOLE, NUMBER, count, "how many, if that is known, else 0")
END(HOLE)

RECORD(LIMIT, "limit", "cell", "a limit of the cell was hit or is near (P)")
FIELD(LIMIT, TEXT, what, "which")
END(LIMIT)

RECORD(FORK, "fork", "exec", "a process was made; the record's process is the new one (K)")
FIELD(FORK, NUMBER, parent, "the process that made it")
END(FORK)

RECORD(EXEC, "exec", "exec", "the process started a program (K)")
FIELD(EXEC, TEXT, path, "the program")
FIELD(EXEC, WORDS, args, "its arguments, the name it was called by first")
FIELD(EXEC, TEXT, cwd, "its working directory")
FIELD(EXEC, NUMBER, parent, "its parent process; 0: it was started from outside")
FIELD(EXEC, NUMBER, uid, "its user in the cell")
FIELD(EXEC, HASH, hash, "the program's content, if it is a file of an image of the store; nothing: of the host image, or changed (see the content records)")
END(EXEC)

RECORD(EXIT, "exit", "exec", "the process ended (K)")
FIELD(EXIT, NUMBER, code, "its exit status; 0 if a signal ended it")
FIELD(EXIT, NUMBER, signal, "the signal that ended it, or 0")
END(EXIT)

RECORD(READ, "read", "file", "a file was opened for reading, the first time by this process (K)")
FIELD(READ, TEXT, path, "the file")
END(READ)

RECORD(OPEN, "open", "file", "a file was opened for writing (K)")
FIELD(OPEN, TEXT, path, "the file")
FIELD(OPEN, NUMBER, flags, "as open(2) has them")
END(OPEN)

RECORD(WRITE, "write", "file", "a file that was changed was closed (K)")
FIELD(WRITE, TEXT, path, "the file")
FIELD(WRITE, NUMBER, size, "its size then")
END(WRITE)

RECORD(CONTENT, "content", "file", "what a changed file held when it was read for this record (K)")
FIELD(CONTENT, TEXT, path, "the file")
FIELD(CONTENT, NUMBER, size, "its size")
FIELD(CONTENT, HASH, hash, "SHA-256 of all of it; nothing: see why")
FIELD(CONTENT, TEXT, why, "why there is no hash: large, removed, ended, error")
END(CONTENT)

RECORD(CREATE, "create", "file", "a name was made (K)")
FIELD(CREATE, TEXT, path, "the name")
FIELD(CREATE, NUMBER, mode, "type and mode, as stat(2) has them")
FIELD(CREATE, TEXT, target, "of a symbolic link: where it leads")
END(CREATE)

RECORD(REMOVE, "remove", "file", "a name was removed (K)")
FIELD(REMOVE, TEXT, path, "the name")
END(REMOVE)

RECORD(RENAME, "rename", "file", "a name was changed (K)")
FIELD(RENAME, TEXT, path, "the old name")
FIELD(RENAME, TEXT, to, "the new name")
FIELD(RENAME, NUMBER, exchange, "1: the two names were exchanged")
LATER(RENAME, NUMBER, replaced, "type and mode of what had the new name before and is gone; 0: nothing had, or it is not known (older journals)")
END(RENAME)

RECORD(LINK, "link", "file", "a file got another name (K)")
FIELD(LINK, TEXT, path, "the file")
FIELD(LINK, TEXT, to, "the new name")
END(LINK)

RECORD(CHANGE, "change", "file", "mode, owner, times, attributes or size of a file were changed by name, once or several times in a row (K)")
FIELD(CHANGE, TEXT, path, "the file")
END(CHANGE)

RECORD(MOUNT, "mount", "file", "something was mounted (K)")
FIELD(MOUNT, TEXT, path, "where")
END(MOUNT)

RECORD(NAME, "name", "net", "a name was looked up (G)")
FIELD(NAME, TEXT, name, "the name")
FIELD(NAME, TEXT, decision, "allow, audit, deny or ask; audit: only a rule that says audit lets it through")
FIELD(NAME, TEXT, rule, "the rule that decided, or why it was denied")
LATER(NAME, TEXT, type, "the type of record that was asked for: A, AAAA, MX ...")
END(NAME)

RECORD(CONNECT, "connect", "net", "a connection to the outside was asked for (G)")
FIELD(CONNECT, NUMBER, connection, "its number in this run of the cell")
FIELD(CONNECT, TEXT, protocol, "tcp or udp")
FIELD(CONNECT, TEXT, name, "the name it is for, if there is one")
FIELD(CONNECT, TEXT, address, "the address on the outside")
FIELD(CONNECT, NUMBER, port, "the port")
FIELD(CONNECT, TEXT, decision, "allow or audit: it was made; deny, failed: it was not; ask: the operator is asked first")
FIELD(CONNECT, TEXT, rule, "the rule that decided, or why it was denied or failed")
FIELD(CONNECT, TEXT, program, "the program that asked")
END(CONNECT)

RECORD(CLOSE, "close", "net", "a connection to the outside ended (K)")
FIELD(CLOSE, TEXT, protocol, "tcp or udp")
FIELD(CLOSE, TEXT, address, "the address as the cell has it")
FIELD(CLOSE, NUMBER, port, "the port")
FIELD(CLOSE, NUMBER, in, "bytes that came in")
FIELD(CLOSE, NUMBER, out, "bytes that went out")
LATER(CLOSE, NUMBER, connection, "its number, as in connect")
END(CLOSE)

RECORD(REQUEST, "request", "net", "an HTTP request on a connection that the gate opens (G)")
FIELD(REQUEST, NUMBER, connection, "the number of its connection")
FIELD(REQUEST, TEXT, method, "the method")
FIELD(REQUEST, TEXT, url, "the URL, with secrets by name only")
FIELD(REQUEST, NUMBER, status, "the status of the gate's own answer; 0: it is sent on, see response")
FIELD(REQUEST, NUMBER, in, "not used, see response")
FIELD(REQUEST, NUMBER, out, "not used, see response")
FIELD(REQUEST, TEXT, decision, "allow, audit, deny, ask or failed")
FIELD(REQUEST, TEXT, rule, "the rule that decided, or why it was refused")
LATER(REQUEST, NUMBER, number, "its number on the connection, from 1 on")
END(REQUEST)

RECORD(INBOUND, "inbound", "net", "a connection from the host to a port of the cell (P)")
FIELD(INBOUND, TEXT, peer, "where it came from")
FIELD(INBOUND, NUMBER, port, "the port in the cell")
END(INBOUND)

RECORD(DENIAL, "denial", "policy", "something was refused (K, G, D)")
FIELD(DENIAL, TEXT, scope, "files, exec, net, tools ...")
FIELD(DENIAL, TEXT, what, "what was tried, and on what")
FIELD(DENIAL, TEXT, rule, "the rule that refused it")
END(DENIAL)

RECORD(APPROVAL, "approval", "policy", "somebody answered a question (D, P)")
FIELD(APPROVAL, TEXT, id, "the question")
FIELD(APPROVAL, TEXT, scope, "files, exec, net, tools, agent ...")
FIELD(APPROVAL, TEXT, what, "what was asked")
FIELD(APPROVAL, TEXT, answer, "allow, deny or withdrawn")
FIELD(APPROVAL, TEXT, by, "who answered")
END(APPROVAL)

RECORD(POLICY, "policy", "policy", "other rules are in force (P)")
FIELD(POLICY, WORDS, rules, "all of them")
END(POLICY)

RECORD(SESSION, "session", "agent", "an agent's session has a process in the cell (D)")
FIELD(SESSION, TEXT, session, "its id")
FIELD(SESSION, TEXT, agent, "the agent")
FIELD(SESSION, NUMBER, root, "the process")
END(SESSION)

RECORD(PROMPT, "prompt", "agent", "a prompt was given to a session (D)")
FIELD(PROMPT, TEXT, session, "the session")
FIELD(PROMPT, NUMBER, number, "the number of the prompt in the session, from 1 on")
FIELD(PROMPT, TEXT, text, "its beginning")
END(PROMPT)

RECORD(ANSWER, "answer", "agent", "the agent has finished with a prompt (D)")
FIELD(ANSWER, TEXT, session, "the session")
FIELD(ANSWER, NUMBER, number, "the prompt")
FIELD(ANSWER, TEXT, reason, "why it stopped")
END(ANSWER)

RECORD(TOOL, "tool", "agent", "a tool of the host was called (D)")
FIELD(TOOL, TEXT, tool, "which")
FIELD(TOOL, TEXT, args, "its arguments as JSON, cut")
FIELD(TOOL, SIGNED, status, "the exit status")
END(TOOL)

RECORD(COMMAND, "command", "operator", "the operator started a process in the cell (P)")
FIELD(COMMAND, NUMBER, number, "the keeper's number of it; 1 is the cell's own command")
FIELD(COMMAND, WORDS, args, "the command")
END(COMMAND)

RECORD(OPERATOR, "operator", "operator", "the operator did something to the cell (P, D)")
FIELD(OPERATOR, TEXT, action, "stop, kill, pause, resume, snapshot, rollback, limits, files ...")
FIELD(OPERATOR, TEXT, detail, "the name of the snapshot, the path, the limit ...")
END(OPERATOR)

RECORD(RESPONSE, "response", "net", "a request that was sent on has ended (G)")
FIELD(RESPONSE, NUMBER, connection, "the number of its connection")
FIELD(RESPONSE, NUMBER, number, "the number of the request on the connection")
FIELD(RESPONSE, TEXT, method, "the method")
FIELD(RESPONSE, TEXT, url, "the URL, with secrets by name only")
FIELD(RESPONSE, NUMBER, status, "the status that the program got; 0: none")
FIELD(RESPONSE, NUMBER, in, "bytes of the response's body")
FIELD(RESPONSE, NUMBER, out, "bytes of the request's body")
END(RESPONSE)

#undef RECORD
#undef FIELD
#undef LATER
#undef END
