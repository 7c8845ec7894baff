/* The cell's network inside a keeper: the gate (gate.c), the channel to it (gatectl.c), and what it
 * says that happened (gatenotes.c), and what is counted of it (gatefigures.c). */
#ifndef VIV_KEEPER_GATE_H
#define VIV_KEEPER_GATE_H

#include "keeper/keeper.h"
#include "wire/gatectl.h"
#include "wire/journalraw.h"

/* ---- gate.c ---- */
/* Was the cell started with a channel to a gate? */
bool gate_is_granted(void);
/* The cell runs without one, and gets it now. */
int must_check gate_grant(struct err *e);
/* A memory file with settings and these rules, as gate/settings.c reads them; -1. */
int gate_settings_write(char *const *rules);
/* What a new gate had to wait for is over. */
void gate_retry(void);
/* A gate that cannot be used any more; another one is started when it is needed. */
void gate_kill(void);

/* ---- gatectl.c ---- */
/* The rules in force. */
char *const *gate_rules(void);
/* For a new gate: its end of the channel, which is the caller's; -1. */
int gatectl_open(void);
/* Takes the notes that an ended gate had sent and nobody has read. */
void gatectl_last(void);
/* The gate has ended. */
void gatectl_gone(void);
/* The settings are written again, for a change of something else than the policy. -1: there is no
 * gate that could be told, and the next one has them. */
int gatectl_settings(void);
/* To a GATECTL_ASK. False: there is nobody to tell. */
bool gatectl_answer(uint32_t id, const char *json, size_t n);

/* ---- asks.c ---- */
/* GATECTL_ASK, whatever its bytes are, and GATECTL_WITHDRAW or, decided, GATECTL_DECIDED. */
void ask_gate(uint32_t id, const char *json, size_t n);
void ask_gate_withdraw(uint32_t id, bool decided);
/* The gate is gone, and what it asked. */
void asks_gate_lost(void);

/* ---- gatenotes.c ---- */
/* GATECTL_NOTE, whatever its bytes are. */
void gate_note(const char *json, size_t n);

/* ---- gatefigures.c ---- */

/* Frames of a batch that was taken out of a ring. */
void gate_figures_count(enum journal_source source, const uint8_t *frames, size_t n);
void gate_figures_get(struct keep_gate *ret);

#endif
