/* What a program in a cell and vivd say to each other at the door, /run/viv/sock
 * (docs/decisions/0046-tools.md). Lines of JSON, each an object; one request for each connection.
 * A connection that begins with a capital letter is one to the API (docs/subcells.md); another byte
 * than '{' is refused.
 *
 *   {"op": "list"}
 *     {"tools": [{"name", "description", "subcommands": [{"name", "description"}]}]}
 *   {"op": "show", "tool": NAME}
 *     {"tool": {"name", "description", "schema" or "subcommands": [{..., "schema"}]}}
 *   {"op": "call", "tool": NAME, "subcommand": NAME or absent, "arguments": {...}}
 *     {"waiting": N}         a person is asked, by approval N
 *     {"started": true}      from here on the call may have effects
 *     {"stdout": BASE64}     output as it comes, in pieces; likewise "stderr"
 *     {"exit": N}            the last line: the exit status of the command
 *   {"error": {"code", "message", "cause", "remedy"}, "exit": N}
 *                            the last line of whatever failed; exit is what the command ends with
 *
 * Whoever closes the connection before the last line ends the call. */
#ifndef VIV_WIRE_TOOLS_H
#define VIV_WIRE_TOOLS_H

#define DOOR_PATH "/run/viv/sock"
#define DOOR_REQUEST_MAX (1u << 20) /* bytes of a request */
#define DOOR_LINE_MAX (2u << 20) /* of a line of an answer: a schema is the longest */

/* Exit statuses of a command that its tool did not give. */
#define TOOL_EXIT_USAGE 2 /* the arguments do not fit */
#define TOOL_EXIT_TIME 124
#define TOOL_EXIT_FAILED 125
#define TOOL_EXIT_DENIED 126
#define TOOL_EXIT_UNKNOWN 127

#endif
