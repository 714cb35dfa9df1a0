"""The receiver: OTLP over gRPC and HTTP in, acknowledged when it is safe, sealed as sessions."""
