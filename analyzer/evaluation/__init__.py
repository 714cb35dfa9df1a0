"""How reliable are an agent's runs, may it be deployed, how does that change? Answers from evidence, by fixed rules.

The documented data types and functions of critiqor, deterministic and without a model, and the history they are
kept in.
"""

from analyzer.cause import FailureCause, RootCause
from analyzer.evaluation.benchmark import benchmark_run
from analyzer.evaluation.certification import ReliabilityCertification, certify_run
from analyzer.evaluation.chain import CausalGraph, CausalGraphEdge, build_causal_graph, explain_failure_chain
from analyzer.evaluation.comparison import RunComparison, compare_runs
from analyzer.evaluation.critiqor import Critiqor, judge
from analyzer.evaluation.diagnosed import RunSummary
from analyzer.evaluation.evidence import EvaluationEvidence, RuntimeMetrics, ToolCall, ToolOutput
from analyzer.evaluation.failures import detect_failure_causes
from analyzer.evaluation.history.query import RunQuery
from analyzer.evaluation.history.rebuild import Rebuilt, rebuild
from analyzer.evaluation.history.store import HISTORY_FILE, Diagnosed, History
from analyzer.evaluation.history.transfer import Imported, export_lines, import_lines
from analyzer.evaluation.insights import ReliabilityInsight, generate_insights
from analyzer.evaluation.judgement import calculate_evaluation_confidence, recommend_deployment
from analyzer.evaluation.leaderboard import Leaderboard, LeaderboardEntry, generate_leaderboard
from analyzer.evaluation.lines import HistoryWarning
from analyzer.evaluation.origin import Origin
from analyzer.evaluation.policy import PolicyCheckResult, PolicyRule, check_policy, check_rules, unknown_rules
from analyzer.evaluation.record import EvaluationRecord
from analyzer.evaluation.result import BenchmarkResult, CritiqorResult
from analyzer.evaluation.roster import AgentProfile, MemoryRoster, Roster, register_agent, submit_run
from analyzer.evaluation.runs import trust_from_run
from analyzer.evaluation.saving import load_evaluations, save_evaluation
from analyzer.evaluation.trends import TrendAnalysis, analyze_trends
from analyzer.evaluation.words import (
    AgentType,
    CertificationLevel,
    DeploymentRecommendation,
    EvidenceLevel,
    FailureSeverity,
    TrendDirection,
    TrustLevel,
)

__all__ = [
    "HISTORY_FILE",
    "AgentProfile",
    "AgentType",
    "BenchmarkResult",
    "CausalGraph",
    "CausalGraphEdge",
    "CertificationLevel",
    "Critiqor",
    "CritiqorResult",
    "DeploymentRecommendation",
    "Diagnosed",
    "EvaluationEvidence",
    "EvaluationRecord",
    "EvidenceLevel",
    "FailureCause",
    "FailureSeverity",
    "History",
    "HistoryWarning",
    "Imported",
    "Leaderboard",
    "LeaderboardEntry",
    "MemoryRoster",
    "Origin",
    "PolicyCheckResult",
    "PolicyRule",
    "Rebuilt",
    "ReliabilityCertification",
    "ReliabilityInsight",
    "RootCause",
    "Roster",
    "RunComparison",
    "RunQuery",
    "RunSummary",
    "RuntimeMetrics",
    "ToolCall",
    "ToolOutput",
    "TrendAnalysis",
    "TrendDirection",
    "TrustLevel",
    "analyze_trends",
    "benchmark_run",
    "build_causal_graph",
    "calculate_evaluation_confidence",
    "certify_run",
    "check_policy",
    "check_rules",
    "compare_runs",
    "detect_failure_causes",
    "explain_failure_chain",
    "export_lines",
    "generate_insights",
    "generate_leaderboard",
    "import_lines",
    "judge",
    "load_evaluations",
    "rebuild",
    "recommend_deployment",
    "register_agent",
    "save_evaluation",
    "submit_run",
    "trust_from_run",
    "unknown_rules",
]
