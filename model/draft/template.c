#include "model/draft/template.h"

const char *const draft_question_names[DRAFT_QUESTIONS] = {[DRAFT_TWO_VENDORS] = "two-vendors",
                                                           [DRAFT_RENT_OR_OWN] = "rent-or-own",
                                                           [DRAFT_OWN_OR_API] = "own-or-api",
                                                           [DRAFT_STAGES] = "stages",
                                                           [DRAFT_PROPOSALS] = "rfp"};

bool draft_needs_demand(enum draft_question question) {
  return question == DRAFT_OWN_OR_API || question == DRAFT_STAGES || question == DRAFT_PROPOSALS;
}

enum {
  API = 1u << DRAFT_OWN_OR_API,
  STAGES = 1u << DRAFT_STAGES,
  FALLING = STAGES | 1u << DRAFT_PROPOSALS
};

// Figures in brackets are rows of the catalogue, of overheads, power or typical.
// tests/checks/check_new.py compares each with its row.
const struct template_key template_keys[] = {
    {"scenario", ~0u, "horizon", "3 yr", NULL, NULL, NULL},
    {"workload", ~0u, "utilization", "70 %", "assumption of a public TCO tool (oh080)", "2026",
     "Planned share of capacity in use."},
    {"workload", API, "input_tokens", "1000 token", NULL, NULL,
     "Per request: input tokens are paid for as well. Illustrative; replace with your own "
     "traffic."},
    {"workload", API, "output_tokens", "1000 token", NULL, NULL, NULL},
    {"common", STAGES, "demand_growth", "30 %/yr", NULL, NULL,
     "Made up; replace with your own plan."},
    {"common", FALLING, "price_decline", "10 %/yr", NULL, NULL,
     "How list prices fall from year to year. Made up; replace with your own plan."},
    {"common", ~0u, "electricity_price", "0.1437 USD/kWh", "US commercial average (pw162)",
     "2026-04", NULL},
    {"common", ~0u, "pue", "1.54", "Uptime Institute survey, industry average (pw086)",
     "2026-01-19", "Power usage effectiveness of the site: 1 means no overhead."},
    {"common", ~0u, "host_power", "309 W/gpu",
     "one server, MLPerf v5.1, 8 B200: (10474 W at the wall - 8 x 1000 W) / 8", "2025-07-28",
     "Processors, memory, fans, network adapters and the losses of power supplies, per "
     "accelerator. At least: it takes all eight GPUs to be at their limit. Replace it with your "
     "server's."},
    {"common", ~0u, "support", "15 %/yr", "support_contract in pertoken catalog typical",
     "2024-2026", "Share of the hardware price. Negotiable, and often far lower."},
    {"common", ~0u, "engineer_cost", "280000 USD/FTE/yr", "procurement scorecard (oh001)",
     "2024-02", "Used by an option with engineers = 2 FTE: staff that the others do not need."},
    {"common", ~0u, "wacc", "8 %/yr", NULL, NULL,
     "Cost of capital, for levelized costs. Replace with your own."},
    {"hardware", ~0u, "node_price", "32010 USD", "parts of a DGX H100 without GPUs (typical)",
     "2023-05", "A server without its accelerators. Replace with the vendor's offer."},
    {"hardware", ~0u, "network_price", "4247 USD/gpu", "public H100 cluster sheet (typical)",
     "2024-08", "Switches and cables, per accelerator."},
    {"range", ~0u, "utilization", "triangular(30, 70, 95) %", NULL, NULL,
     "Shared to dedicated (see pertoken catalog typical)."},
    {"range", ~0u, "host_power", "uniform(309, 475) W/gpu", NULL, NULL,
     "From that server to NVIDIA's planning figure for a GB300 node: (7.5 kW - 4 x 1.4 kW) / 4 "
     "(pw017)."},
    {"range", ~0u, "electricity_price", "triangular(0.0896, 0.1437, 0.2459) USD/kWh", NULL, NULL,
     "US commercial: Nevada (pw171), the average, Connecticut (pw172)."},
    {"case half_used", ~0u, "label", "Utilization 35 %", NULL, NULL, NULL},
    {"case half_used", ~0u, "utilization", "35 %", NULL, NULL, NULL},
    {"case planning_power", ~0u, "label", "Low-cost, efficient site", NULL, NULL, NULL},
    {"case planning_power", ~0u, "electricity_price", "0.08 USD/kWh",
     "planning price of a public TCO tool (pw191)", "2026", NULL},
    {"case planning_power", ~0u, "pue", "1.15", "AWS (pw095)", "2025", NULL},
};

const size_t template_key_count = sizeof template_keys / sizeof template_keys[0];
