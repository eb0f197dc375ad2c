import type { ModelChoice } from './model-choice.js'

const TOKENS = 32_768

/** @see https://docs.ollama.com/api/openai-compatibility#setting-the-context-size */
const OLLAMA = `Ollama takes no window in a request: hermes model set MODEL --window ${TOKENS} makes a copy of the model that has it, or start it with OLLAMA_CONTEXT_LENGTH=${TOKENS} ollama serve.`

const WAYS: Readonly<Record<string, string>> = {
  ollama: OLLAMA,
  llamacpp: `Start llama-server with -c ${TOKENS}.`,
  lmstudio: `Load it with a longer context: lms load MODEL --context-length ${TOKENS}.`,
  vllm: `Start vLLM with --max-model-len ${TOKENS}.`,
}

/** How a person gives a model on this machine a larger window. Which server an endpoint without a name is, is not known. */
export function largerWindow({ catalogueId }: Pick<ModelChoice, 'catalogueId'>): string {
  return WAYS[catalogueId] ?? `${OLLAMA} llama.cpp: llama-server -c ${TOKENS}.`
}
