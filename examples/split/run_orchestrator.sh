#!/usr/bin/env bash
# Starts the orchestrator of the split example in this folder. SONDE_BIN: where the programs are.
exec "${SONDE_BIN:-$(dirname "$0")/../../build/release/bin}/split_orchestrator" "$@"
