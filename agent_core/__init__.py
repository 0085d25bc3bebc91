"""The core of Mnemoscope: messages, trace, models, tools and the agent. It knows no screen."""

from agent_core.agent import Agent, AgentState
from agent_core.compression import ContextConfig
from agent_core.errors import MnemoscopeError
from agent_core.trace import Trace

__all__ = ["Agent", "AgentState", "ContextConfig", "MnemoscopeError", "Trace"]
