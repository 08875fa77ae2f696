"""The knowledge base: YAML records, their compiled form, and what checks them."""
